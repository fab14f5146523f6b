#include "gateway/ports/relay.hpp"

#include "gateway/core/settle.hpp"
#include "gateway/http/token.hpp"
#include "gateway/ports/response_forwarder.hpp"
#include "gateway/ports/tunnel.hpp"
#include "gateway/ports/visitor_error.hpp"

namespace sandgate::ports {
namespace {

constexpr std::chrono::seconds kDialLimit{10};
constexpr int kMaxInterim = 16;  // 1xx responses before the final one
// An idle connection may be closed by the program at any time, so a request that must not be sent
// twice takes only a recently used one.
constexpr std::chrono::milliseconds kYoung{1000};

Error nothing_listens(uint16_t port) {
  const std::string number = std::to_string(port);
  Error error(ErrorCode::unavailable,
              "nothing listens on port " + number +
                  " in the sandbox: start the program, let it listen on 127.0.0.1:" + number +
                  " or 0.0.0.0:" + number + ", and try again");
  error.retry_after = std::chrono::seconds(1);
  return error;
}

}  // namespace

Relay::Relay(AppPool& pool, SandboxAccess& access, OpenSandbox box, PortAddress address,
             const http::Request& request, http::IncomingBody& body, RelaySettings settings)
    : pool_(pool),
      access_(access),
      box_(std::move(box)),
      address_(std::move(address)),
      request_(request),
      settings_(settings),
      body_(body) {}

bool Relay::repeatable() const {
  return !body_.streams() && request_.method != http::Method::post &&
         request_.method != http::Method::patch && request_.method != http::Method::other;
}

bool Relay::asks_for_websocket() const {
  const http::Headers& headers = request_.headers;
  return http::has_token(headers.list("Upgrade").value_or(""), "websocket") && client_->http11() &&
         !body_.streams() && body_.small().empty() &&
         http::has_token(headers.list("Connection").value_or(""), "upgrade");
}

Error Relay::no_answer() const {
  if (program().refused()) return nothing_listens(address_.port);
  return Error(ErrorCode::unavailable, "the program on port " + std::to_string(address_.port) +
                                           " closed the connection without an answer");
}

Task<bool> Relay::serve(http::ClientSide& client) {
  const auto executor = co_await asio::this_coro::executor;
  client_ = &client;
  slot_ = pool_.acquire(box_.id.value + ":" + std::to_string(address_.port));
  if (!body_.is_empty()) co_await body_.gather();
  app_ = std::make_shared<AppExchange>(client, settings_.silence, still_open);
  for (bool fresh = false;; fresh = true) {
    if (fresh || !take_idle(executor)) co_await connect();
    const Ending ending = co_await exchange();
    if (ending == Ending::done) break;
    if (fresh) throw no_answer();
  }
  client.cancel_timer();
  if (reusable()) pool_.put(app_->release());
  co_return keep_alive_;
}

Task<PortConnection> Relay::dial() {
  auto dialling = attempt_within(kDialLimit, box_.provider->dial(box_.backend_id, address_.port));
  auto outcome = co_await std::move(dialling);
  if (auto* connection = std::get_if<PortConnection>(&outcome)) co_return std::move(*connection);
  const Error failure = std::get<Error>(outcome);
  if (failure.code == ErrorCode::unavailable) throw nothing_listens(address_.port);
  if (failure.code == ErrorCode::not_found) {
    const auto found = co_await attempt(box_.provider->find(box_.backend_id));
    const auto* backend = std::get_if<std::optional<BackendSandbox>>(&found);
    if (backend && !*backend)
      co_await access_.report_gone(box_.id, "the backend no longer knows the sandbox");
  }
  throw for_visitor(failure);
}

bool Relay::take_idle(const asio::any_io_executor& executor) {
  auto idle = pool_.take(slot_->key(), executor, repeatable() ? AppPool::kMaxAge : kYoung);
  reused_ = idle != nullptr;
  if (reused_) app_->use(std::move(idle));
  return reused_;
}

Task<void> Relay::connect() {
  const auto executor = co_await asio::this_coro::executor;
  app_->use(nullptr);
  reused_ = false;
  PortConnection connection = co_await dial();
  app_->use(std::make_unique<AppConnection>(executor, slot_->key(), std::move(connection)));
  auto securing = within(kDialLimit, program().secure(pool_.tls()));
  co_await std::move(securing);
}

Task<Relay::Ending> Relay::exchange() {
  const bool websocket = asks_for_websocket();
  const ForwardedRequest forwarded{
      request_,  address_,     program().path_prefix(), program().headers(), body_.framing(),
      websocket, settings_.tls};
  const std::string head = forwarded_request_head(forwarded);
  const std::array<asio::const_buffer, 2> buffers{asio::buffer(head), asio::buffer(body_.small())};
  app_->restart_silence_timer();
  const bool taken = co_await program().write(buffers);
  if (!taken && program().refused()) co_return Ending::retry;
  // Otherwise the program may answer even a partly sent request.
  response_.reset();
  if (!body_.streams()) co_return co_await answer();
  auto answering = answer();
  auto uploading = upload();
  co_return co_await with_companion(std::move(answering), std::move(uploading));
}

Task<void> Relay::upload() {
  try {
    co_await body_.upload(*app_);
  } catch (...) {
    // This coroutine is not awaited; the reader of the program rethrows the failure.
    app_->abort(std::current_exception());
  }
}

Task<bool> Relay::read_head() {
  response_.emplace(request_.method == http::Method::head);
  for (;;) {
    if (!program().unread().empty()) {
      program().consume(response_->parse_head(program().unread()));
      if (response_->head_done()) co_return true;
    }
    const size_t got = co_await app_->read();
    if (got == 0) co_return false;
  }
}

Task<Relay::Ending> Relay::answer() {
  int interim = -1;
  do {
    if (++interim > kMaxInterim)
      throw Error(ErrorCode::unavailable,
                  "the program in the sandbox sent too many interim responses");
    const bool read = co_await read_head();
    if (read) continue;
    app_->throw_reason();
    if (!app_->has_received() && reused_ && repeatable()) co_return Ending::retry;
    throw no_answer();
  } while (response_->informational());
  if (response_->status() == 101) co_return co_await switch_protocol();
  co_await forward_response();
  co_return Ending::done;
}

Task<Relay::Ending> Relay::switch_protocol() {
  if (!asks_for_websocket() || !response_->to_websocket())
    throw Error(ErrorCode::unavailable,
                "the program in the sandbox switched to a protocol that was not asked for");
  upgraded_ = true;
  const std::string head = answer_head({.websocket = true});
  const std::array<asio::const_buffer, 1> buffers{asio::buffer(head)};
  co_await client_->write(buffers, settings_.silence);
  auto passing = tunnel(*client_, program(), settings_.silence);
  auto watching = app_->watch();
  co_await with_companion(std::move(passing), std::move(watching));
  co_return Ending::done;
}

Upstream Relay::upstream() const {
  const std::string& prefix = program().path_prefix();
  if (prefix.empty()) return {};
  for (const auto& [name, value] : program().headers())
    if (name == "Host") return {value, prefix};
  return {"", prefix};
}

std::string Relay::answer_head(const AnswerFraming& framing) const {
  const ForwardedResponse forwarded{*response_, address_, request_, framing, cookie, upstream()};
  return forwarded_response_head(forwarded);
}

Task<void> Relay::forward_response() {
  ResponseForwarder forwarder(*client_, *app_, *response_, settings_.silence);
  std::string head = answer_head(forwarder.framing());
  co_await forwarder.run(std::move(head));
  keep_alive_ = forwarder.framing().keep_alive;
}

bool Relay::reusable() const {
  return !upgraded_ && response_->keep_alive() && body_.is_sent() && program().unread().empty();
}

}  // namespace sandgate::ports
