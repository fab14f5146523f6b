#include "gateway/ports/relay.hpp"

#include <charconv>

#include "gateway/core/settle.hpp"
#include "gateway/http/token.hpp"
#include "gateway/ports/tunnel.hpp"
#include "gateway/ports/visitor_error.hpp"

namespace sandgate::ports {
namespace {

constexpr size_t kSmallBody = 16 * 1024;  // sent together with its head
constexpr size_t kUploadBytes = 32 * 1024;
constexpr std::chrono::seconds kDialLimit{10};
constexpr int kMostInterim = 16;  // 1xx responses before the final one
// An idle connection may be closed by the program at any time, so a request that must not be sent
// twice takes only a recently used one.
constexpr std::chrono::milliseconds kYoung{1000};
constexpr std::chrono::seconds kLookEvery{1};

std::string chunk_head(size_t bytes) {
  char text[20];
  const auto end = std::to_chars(text, text + sizeof text, bytes, 16).ptr;
  return std::string(text, end) + "\r\n";
}

Error nothing_listens(uint16_t port) {
  const std::string number = std::to_string(port);
  Error error(ErrorCode::unavailable,
              "nothing listens on port " + number +
                  " in the sandbox: start the program, let it listen on 127.0.0.1:" + number +
                  " or 0.0.0.0:" + number + ", and try again");
  error.retry_after = std::chrono::seconds(1);
  return error;
}

Error port_closed() { return Error(ErrorCode::not_found, "the port was closed"); }

boost::system::system_error cut_off() {
  return boost::system::system_error(asio::error::connection_aborted);
}

}  // namespace

Relay::Relay(AppPool& pool, SandboxAccess& access, OpenSandbox box, PortAddress address,
             const http::Request& request, http::IncomingBody& body, RelaySettings settings)
    : pool_(pool),
      access_(access),
      box_(std::move(box)),
      address_(std::move(address)),
      request_(request),
      body_(body),
      settings_(settings) {}

bool Relay::repeatable() const {
  return !streams_ && request_.method != http::Method::post &&
         request_.method != http::Method::patch && request_.method != http::Method::other;
}

bool Relay::asks_for_upgrade() const {
  return request_.headers.find("Upgrade") && client_->http11() && !streams_ &&
         small_body_.empty() &&
         http::has_token(request_.headers.list("Connection").value_or(""), "upgrade");
}

Error Relay::no_answer() const {
  if (app_->refused()) return nothing_listens(address_.port);
  return Error(ErrorCode::unavailable, "the program on port " + std::to_string(address_.port) +
                                           " closed the connection without an answer");
}

Task<bool> Relay::serve(http::ClientSide& client) {
  client_ = &client;
  seat_ = pool_.enter(box_.id.value + ":" + std::to_string(address_.port));
  co_await gather_body();
  client.on_alarm([this] { ring(); });
  for (bool fresh = false;; fresh = true) {
    co_await connect(fresh);
    const Ending ending = co_await exchange();
    if (ending == Ending::done) break;
    if (fresh) throw no_answer();
  }
  client.still_alarm();
  if (reusable()) pool_.put(std::move(app_));
  co_return keep_alive_;
}

Task<void> Relay::gather_body() {
  const auto length = body_.length();
  body_framing_.length = length;
  if (body_.ended()) co_return;
  if (length && *length <= kSmallBody) {
    body_.expect(http::IncomingBody::Speed::whole);
    small_body_.resize(*length);
    for (size_t have = 0; have < small_body_.size();) {
      const std::span<char> room(small_body_.data() + have, small_body_.size() - have);
      const size_t got = co_await body_.read(room);
      if (got == 0) throw cut_off();
      have += got;
    }
    co_return;
  }
  // It may come as slowly as somebody types.
  body_.expect(http::IncomingBody::Speed::leisure);
  co_await body_.invite();
  streams_ = true;
  body_framing_.chunked = !length;
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

Task<void> Relay::connect(bool fresh) {
  const auto executor = co_await asio::this_coro::executor;
  heard_ = false;
  app_.reset();
  if (!fresh) app_ = pool_.take(seat_->key(), executor, repeatable() ? AppPool::kMaxAge : kYoung);
  reused_ = app_ != nullptr;
  if (reused_) co_return;
  PortConnection connection = co_await dial();
  app_ = std::make_unique<AppConnection>(executor, seat_->key(), std::move(connection));
  auto securing = within(kDialLimit, app_->secure(pool_.tls()));
  co_await std::move(securing);
}

Task<Relay::Ending> Relay::exchange() {
  const bool upgrade = asks_for_upgrade();
  const Forwarding forwarding{request_,      address_, app_->path_prefix(), app_->headers(),
                              body_framing_, upgrade,  settings_.tls};
  const std::string head = forwarded_head(forwarding);
  const std::array<asio::const_buffer, 2> buffers{asio::buffer(head), asio::buffer(small_body_)};
  limit_silence();
  const bool taken = co_await app_->write(buffers);
  if (!taken && app_->refused()) co_return Ending::again;
  // Otherwise the program may answer even a partly sent request.
  response_.reset();
  if (!streams_) co_return co_await answer();
  auto answering = answer();
  auto uploading = upload();
  co_return co_await with_companion(std::move(answering), std::move(uploading));
}

Task<void> Relay::upload() {
  try {
    co_await upload_all();
  } catch (...) {
    // This coroutine is not awaited; the reader of the program rethrows the failure.
    upload_failure_ = std::current_exception();
    app_->give_up();
  }
}

Task<void> Relay::upload_all() {
  const std::unique_ptr<char[]> bytes(new char[kUploadBytes]);
  const std::span<char> room(bytes.get(), kUploadBytes);
  for (;;) {
    const size_t got = co_await body_.read(room);
    const bool ended = got == 0;
    if (std::chrono::steady_clock::now() - looked_ > kLookEvery) co_await check_open();
    std::string head, tail;
    if (body_framing_.chunked) {
      head = chunk_head(got);
      tail = "\r\n";
    }
    const std::array<asio::const_buffer, 3> buffers{
        asio::buffer(head), asio::buffer(bytes.get(), got), asio::buffer(tail)};
    const bool taken = co_await app_->write(buffers);
    // The program may have answered already and not want the rest.
    if (!taken) co_return;
    if (hearing_) limit_silence();
    if (ended) break;
  }
  uploaded_ = true;
}

Task<size_t> Relay::hear() {
  limit_silence();
  hearing_ = true;
  size_t got = 0;
  try {
    got = co_await app_->read();
  } catch (const Error&) {
    if (closed_) throw port_closed();
    if (upload_failure_) std::rethrow_exception(upload_failure_);
    throw;
  }
  hearing_ = false;
  client_->still_alarm();
  heard_ = heard_ || got > 0;
  if (std::chrono::steady_clock::now() - looked_ > kLookEvery) co_await check_open();
  co_return got;
}

Task<void> Relay::check_open() {
  looked_ = std::chrono::steady_clock::now();
  const bool open = co_await still_open();
  if (!open) throw port_closed();
}

void Relay::limit_silence() {
  silent_since_ = std::chrono::steady_clock::now();
  client_->set_alarm(std::min<std::chrono::milliseconds>(settings_.silence, kLookEvery));
}

void Relay::ring() {
  using std::chrono::milliseconds;
  if (!app_) return;
  const auto silent =
      std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - silent_since_);
  if (silent >= settings_.silence) return app_->give_up();
  client_->set_alarm(std::min<milliseconds>(settings_.silence - silent, kLookEvery));
  if (looking_) return;
  looking_ = true;
  // Not a companion of every exchange: few are silent for so long.
  spawn_detached(app_->executor(), look(weak_from_this(), still_open));
}

Task<void> Relay::look(std::weak_ptr<Relay> relay, std::function<Task<bool>()> still_open) {
  auto asking = still_open();
  const bool open = co_await std::move(asking);
  const auto here = relay.lock();
  if (!here) co_return;
  here->looking_ = false;
  if (open || !here->app_) co_return;
  here->closed_ = true;
  here->app_->give_up();
}

Task<void> Relay::watch() {
  for (bool open = true; open;) {
    co_await sleep_for(kLookEvery);
    open = co_await still_open();
  }
  app_->give_up();
}

Task<bool> Relay::read_head() {
  response_.emplace(request_.method == http::Method::head);
  for (;;) {
    if (!app_->unread().empty()) {
      app_->consume(response_->parse_head(app_->unread()));
      if (response_->head_done()) co_return true;
    }
    const size_t got = co_await hear();
    if (got == 0) co_return false;
  }
}

Task<Relay::Ending> Relay::answer() {
  int interim = -1;
  do {
    if (++interim > kMostInterim)
      throw Error(ErrorCode::unavailable, "the program in the sandbox does not come to an answer");
    const bool read = co_await read_head();
    if (read) continue;
    if (upload_failure_) std::rethrow_exception(upload_failure_);
    if (!heard_ && reused_ && repeatable()) co_return Ending::again;
    throw no_answer();
  } while (response_->informational());
  if (response_->status() == 101) co_return co_await switch_protocol();
  co_await deliver();
  co_return Ending::done;
}

Task<Relay::Ending> Relay::switch_protocol() {
  if (!asks_for_upgrade())
    throw Error(ErrorCode::unavailable, "the program in the sandbox upgraded without being asked");
  upgraded_ = true;
  const std::string head = answer_head({.upgrade = true});
  co_await pass(head, "", "");
  auto passing = tunnel(*client_, *app_, settings_.silence);
  auto watching = watch();
  co_await with_companion(std::move(passing), std::move(watching));
  co_return Ending::done;
}

AnswerFraming Relay::framing() const {
  AnswerFraming framing;
  framing.http11 = client_->http11();
  framing.keep_alive = client_->keeps_alive();
  const auto length = response_->content_length();
  const int status = response_->status();
  if (length && status >= 200 && status != 204) framing.length = *length;
  if (!response_->has_body() || framing.length) return framing;
  framing.chunked = framing.http11;
  // The body ends with the connection.
  if (!framing.http11) framing.keep_alive = false;
  return framing;
}

Upstream Relay::upstream() const {
  if (app_->path_prefix().empty()) return {};
  for (const auto& [name, value] : app_->headers())
    if (name == "Host") return {value, app_->path_prefix()};
  return {"", app_->path_prefix()};
}

std::string Relay::answer_head(const AnswerFraming& framing) const {
  const Returning returning{*response_, address_, request_, framing, cookie, upstream()};
  return returned_head(returning);
}

Task<void> Relay::pass(std::string_view head, std::string_view bytes, std::string_view tail) {
  const std::array<asio::const_buffer, 3> buffers{asio::buffer(head.data(), head.size()),
                                                  asio::buffer(bytes.data(), bytes.size()),
                                                  asio::buffer(tail.data(), tail.size())};
  co_await client_->write(buffers, settings_.silence);
}

Task<void> Relay::deliver() {
  const AnswerFraming framing = this->framing();
  std::string head = answer_head(framing);
  if (!response_->has_body())
    co_await pass(head, "", "");
  else if (response_->chunked())
    co_await pass_chunks(std::move(head));
  else if (framing.length)
    co_await pass_length(std::move(head), *framing.length);
  else
    co_await pass_rest(std::move(head));
  keep_alive_ = framing.keep_alive;
}

Task<void> Relay::pass_length(std::string head, uint64_t length) {
  for (uint64_t left = length;;) {
    const std::string_view bytes = app_->unread().substr(0, left);
    co_await pass(head, bytes, "");
    app_->consume(bytes.size());
    left -= bytes.size();
    head.clear();
    if (left == 0) co_return;
    const size_t got = co_await hear();
    if (got == 0) throw cut_off();
  }
}

Task<void> Relay::pass_chunks(std::string head) {
  const std::unique_ptr<char[]> bytes(new char[AppConnection::kBufferBytes]);
  const std::span<char> room(bytes.get(), AppConnection::kBufferBytes);
  const bool chunked = client_->http11();
  for (;;) {
    app_->consume(response_->parse_body(app_->unread(), room));
    const size_t got = response_->body_bytes();
    const bool ended = response_->is_done();
    std::string tail;
    if (chunked && got > 0) {
      head.append(chunk_head(got));
      tail = "\r\n";
    }
    if (chunked && ended) tail.append("0\r\n\r\n");
    // Send the head alone too, so that the client of a quiet stream sees it begin.
    const std::string_view piece(bytes.get(), got);
    if (!head.empty() || got > 0 || !tail.empty()) co_await pass(head, piece, tail);
    head.clear();
    if (ended) co_return;
    if (got > 0) continue;
    if (app_->full())
      throw Error(ErrorCode::unavailable, "the program in the sandbox sent a chunk without an end");
    const size_t heard = co_await hear();
    if (heard == 0) throw cut_off();
  }
}

Task<void> Relay::pass_rest(std::string head) {
  const bool chunked = client_->http11();
  for (;;) {
    const std::string_view bytes = app_->unread();
    const bool frame = chunked && !bytes.empty();
    if (frame) head.append(chunk_head(bytes.size()));
    if (!head.empty() || !bytes.empty()) co_await pass(head, bytes, frame ? "\r\n" : "");
    app_->consume(bytes.size());
    head.clear();
    const size_t got = co_await hear();
    if (got == 0) break;
  }
  if (app_->broken()) throw cut_off();
  if (chunked) co_await pass("0\r\n\r\n", "", "");
}

bool Relay::reusable() const {
  return !upgraded_ && response_->keep_alive() && (!streams_ || uploaded_) &&
         app_->unread().empty();
}

}  // namespace sandgate::ports
