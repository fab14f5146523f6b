#include "gateway/http/connection.hpp"

#include "gateway/core/log.hpp"
#include "gateway/http/answer_log.hpp"
#include "gateway/http/problem.hpp"
#include "gateway/http/stream_sink.hpp"
#include "gateway/http/target.hpp"
#include "gateway/http/token.hpp"
#include "gateway/http/websocket_session.hpp"

namespace sandgate::http {
namespace {

constexpr size_t kReadBytes = 4096;
constexpr size_t kKeptBuffer = 16 * 1024;  // kept by an idle connection
constexpr size_t kCopiedBody = 16 * 1024;  // smaller bodies are copied behind their head
// Clients, and proxies that buffer whole uploads, read the answer only after sending the body.
constexpr size_t kLingerBytes = 256 << 20;
constexpr std::chrono::seconds kLinger{30};
constexpr std::chrono::milliseconds kLingerSilence{2000};  // without a byte received
constexpr size_t kLingerPiece = 16 * 1024;
constexpr std::chrono::milliseconds kLastLinger{1000},
    kLastSilence{500};  // of a request that is cut off
// A client that closed its sending side may still read, so it gets this many checks of
// ConnectionSet. A WebSocket gets more, because its last messages have to be read first.
constexpr int kLooksForHandler = 2;
constexpr int kLooksForWebSocket = 10;

std::string address_of(const Transport::Socket& socket) {
  boost::system::error_code failure;
  const auto peer = socket.remote_endpoint(failure);
  return failure ? std::string() : peer.address().to_string();
}

TracePtr trace_from(const Headers& headers) {
  const auto parent = headers.find("traceparent");
  if (!parent || !is_traceparent(*parent)) return nullptr;
  const std::string_view state = headers.find("tracestate").value_or("");
  return std::make_shared<const Trace>(
      Trace{std::string(*parent), std::string(is_tracestate(state) ? state : "")});
}

// RFC 6455, 4.4: such a client is told the version we support.
bool speaks_another_websocket(const Request& request) {
  const auto upgrade = request.headers.list("Upgrade");
  return upgrade && has_token(*upgrade, "websocket") &&
         request.headers.find("Sec-WebSocket-Version") != "13";
}

// Bytes that follow the request would be lost to the new protocol.
Error early_bytes() {
  return Error(ErrorCode::invalid,
               "a WebSocket upgrade has no body, and frames come after the answer to it");
}

Error stopping() {
  Error error(
      ErrorCode::unavailable,
      "the gateway stops and cut this request off: all or part of it may have been done, so "
      "see before you repeat it");
  error.retry_after = std::chrono::seconds(1);
  return error;
}

}  // namespace

Connection::Connection(Transport::Socket socket, std::shared_ptr<asio::ssl::context> tls,
                       const ConnectionContext& context, std::shared_ptr<ConnectionSet> connections)
    : context_(context),
      connections_(std::move(connections)),
      transport_(std::move(socket), std::move(tls)),
      remote_address_(address_of(transport_.socket())) {
  handle_ = connections_->add(this);
}

Connection::~Connection() { connections_->remove(handle_); }

void Connection::start() { spawn(&Connection::run); }
void Connection::start_refusing() { spawn(&Connection::refuse); }

void Connection::spawn(Task<void> (Connection::*work)()) {
  auto self = shared_from_this();
  asio::co_spawn(
      transport_.socket().get_executor(), [self, work] { return (self.get()->*work)(); },
      asio::bind_cancellation_slot(cancellation_.slot(),
                                   [self](std::exception_ptr) { self->transport_.close(); }));
}

bool Connection::should_end(int64_t now_ms) {
  // While a request is answered, this deadline is that of its body.
  if (phase_ == Phase::answering && transport_.deadline.passed(now_ms) && !cancelled_ &&
      !is_cut_off()) {
    cut_off(CutOff::by_late_body);
    return false;
  }
  if (transport_.deadline.passed(now_ms) || transport_.writing.passed(now_ms)) return true;
  if (relay_timer_.deadline.passed(now_ms)) relay_timer_.fire();
  if (phase_ != Phase::answering && phase_ != Phase::streaming_messages) return false;
  if (!transport_.peer_closed()) return false;
  const int patience = phase_ == Phase::answering ? kLooksForHandler : kLooksForWebSocket;
  return ++sweeps_since_left_ >= patience;
}

void Connection::cancel() {
  const bool again = std::exchange(cancelled_, true);
  // The handler can first send a close frame. This function runs again once the deadline passes.
  if (!again && phase_ == Phase::streaming_messages) transport_.deadline.arm(kCloseTimeout);
  if (!again) cancellation_.emit(asio::cancellation_type::terminal);
  if (!again && phase_ == Phase::streaming_messages) return;
  if (phase_ == Phase::answering)
    transport_.abort();
  else
    transport_.close();
}

void Connection::cut_off() {
  if (phase_ != Phase::answering || cancelled_) return cancel();
  cut_off(CutOff::by_stop);
}

void Connection::cut_off(CutOff reason) {
  cut_off_ = reason;
  transport_.deadline.arm(kCloseTimeout);
  cancellation_.emit(asio::cancellation_type::terminal);
}

Task<void> Connection::run() {
  bool proper = false;
  try {
    transport_.deadline.arm(context_.limits.header_timeout);
    co_await transport_.handshake();
    while (co_await exchange(current_.emplace(context_.limits))) {
    }
    proper = true;
  } catch (const boost::system::system_error&) {
    // The client is gone, or the connection was cancelled.
  }
  current_.reset();
  if (proper)
    transport_.close();
  else
    transport_.abort();
}

Task<void> Connection::refuse() {
  const std::string id = make_id(RequestId::kKind);
  Response response =
      problem(Error(ErrorCode::unavailable, "too many connections: try again shortly"), id);
  Request request;
  request.id = id;
  Framing framing;
  framing.keep_alive = false;
  try {
    if (!transport_.tls()) co_await send(request, response, framing);
  } catch (const boost::system::system_error&) {
    // The client is gone, or the connection was cancelled.
  }
}

Task<bool> Connection::read_head(RequestParser& parser) {
  bool started = false;
  phase_ = Phase::idle;
  connections_->set_waiting(handle_, buffer_.size() == 0);
  // The parser wants the whole head at once, and refuses it once it is longer than allowed.
  buffer_.max_size(std::max(kMaxReadBuffer, context_.limits.header_bytes + kReadBytes));
  transport_.deadline.arm(context_.limits.idle_timeout);
  for (;;) {
    if (buffer_.size() > 0) {
      if (!started) transport_.deadline.arm(context_.limits.header_timeout);
      started = true;
      phase_ = Phase::reading;
      connections_->set_waiting(handle_, false);
      buffer_.consume(parser.parse_head(unread(buffer_)));
      if (parser.head_done()) break;
    } else if (connections_->stopping()) {
      co_return false;
    }
    const auto into = buffer_.prepare(kReadBytes);
    const size_t bytes = co_await transport_.read_some(into);
    if (bytes == 0) co_return false;
    buffer_.commit(bytes);
  }
  transport_.deadline.disarm();
  co_return true;
}

void Connection::describe(Request& request) const {
  request.remote_address = remote_address_;
  request.trace = trace_from(request.headers);
  split_target(request.target);  // refused here, whomever it is for
  if (!context_.responder.is_passthrough(request)) request.decode_target();
}

Task<bool> Connection::refuse_head(const Current& current, const Error& wrong) {
  Response refusal = problem(wrong, current.parser.refusal(), current.request.id);
  const Framing framing{.keep_alive = false};
  co_return co_await send(current.request, refusal, framing);
}

Task<bool> Connection::exchange(Current& current) {
  auto& [request, parser] = current;
  std::optional<Error> wrong;
  request.id = make_id(RequestId::kKind);
  try {
    const bool another = co_await read_head(parser);
    if (!another) co_return false;
    request.received = std::chrono::steady_clock::now();
    describe(request);
  } catch (const Error& error) {
    wrong = error;
  }
  if (wrong) co_return co_await refuse_head(current, *wrong);

  ConnectionBody body(transport_, buffer_, parser, context_.limits);
  phase_ = Phase::answering;
  sweeps_since_left_ = 0;
  auto answering = answer(request, body);
  Response response = co_await unless_cut_off(std::move(answering), request);
  if (std::holds_alternative<UpgradeBody>(response.body)) {
    co_await upgrade(request, response);
    co_return false;
  }
  if (auto* body_of = std::get_if<RelayBody>(&response.body))
    co_return co_await relay(request, *body_of, parser, body);
  const Framing framing{.keep_alive = !request.over_connection_limit && can_continue(parser, body),
                        .http11 = parser.is_http11()};
  const bool more = co_await send(request, response, framing);
  if (buffer_.size() == 0 && buffer_.capacity() > kKeptBuffer) buffer_.shrink_to_fit();
  co_return more;
}

Task<Response> Connection::answer(Request& request, ConnectionBody& body) {
  if (request.method == Method::other && !context_.responder.is_passthrough(request))
    co_return context_.responder.refuse_method(request);
  Response response = co_await context_.responder.respond(request, body);
  if (std::holds_alternative<UpgradeBody>(response.body)) {
    if (!request.is_websocket_upgrade())
      response = problem(websocket_required(), request.id);
    else if (!body.ended() || buffer_.size() > 0)
      response = problem(early_bytes(), request.id);
  }
  if (response.status == 400 && speaks_another_websocket(request))
    response.headers.emplace_back("Sec-WebSocket-Version", "13");
  co_return response;
}

Task<Response> Connection::unless_cut_off(Task<Response> answering, const Request& request) {
  Response response;
  std::exception_ptr failure;
  try {
    response = co_await std::move(answering);
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure && !is_cut_off()) std::rethrow_exception(failure);
  if (!is_cut_off()) co_return response;
  // Here and not in a function: awaiting one would throw what the cancellation left behind.
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  transport_.deadline.arm(kCloseTimeout);
  // A stream would only begin.
  const bool is_whole = !failure && std::holds_alternative<std::string>(response.body);
  co_return is_whole ? std::move(response) : refusal(request, failure);
}

Response Connection::refusal(const Request& request, std::exception_ptr failure) {
  if (!is_cut_off()) return problem(as_error(failure, request.id), request.id);
  transport_.deadline.arm(kCloseTimeout);
  if (cut_off_ == CutOff::by_stop) return problem(stopping(), request.id);
  return problem(Error(ErrorCode::timeout, "the body did not arrive in time"), 408, request.id);
}

bool Connection::can_continue(const RequestParser& parser, ConnectionBody& body) const {
  if (!parser.keep_alive() || connections_->stopping()) return false;
  try {
    // Waiting for the rest of an unwanted body would delay the answer.
    return body.skip_received();
  } catch (const Error&) {
    return false;  // badly framed: the start of the next request is unknown
  }
}

Task<bool> Connection::send(const Request& request, Response& response, Framing framing) {
  bool more = framing.keep_alive;
  if (std::holds_alternative<StreamBody>(response.body))
    more = co_await send_stream(request, response, framing);
  else
    co_await send_text(request, response, framing);
  if (!more) co_await linger();
  co_return more;
}

Task<void> Connection::send_text(const Request& request, const Response& response,
                                 Framing framing) {
  log_answer(request, response, context_.access_log, *context_.failure_pace);
  const auto& body = std::get<std::string>(response.body);
  framing.length = body.size();
  out_.clear();
  append_head(out_, response, request.id, framing);
  const bool silent = request.method == Method::head || response.status == 204;
  const bool copied = !silent && body.size() <= kCopiedBody;
  if (copied) out_.append(body);
  const std::array<asio::const_buffer, 2> buffers{
      asio::buffer(out_), asio::buffer(body.data(), silent || copied ? 0 : body.size())};
  // A stranger counts against no tenant's share, and may read as slowly as it likes.
  connections_->set_waiting(handle_, !request.caller.tenant && !request.caller.is_operator());
  co_await transport_.write(buffers, context_.limits.write_timeout);
  connections_->set_waiting(handle_, false);
  if (out_.capacity() > 2 * kCopiedBody) out_ = std::string();
}

Task<bool> Connection::send_stream(const Request& request, Response& response, Framing framing) {
  auto& stream = std::get<StreamBody>(response.body);
  framing.length = stream.length;
  framing.chunked = !stream.length && framing.http11;
  if (!stream.length && !framing.http11) framing.keep_alive = false;
  std::string head;
  append_head(head, response, request.id, framing);
  StreamSink sink(transport_, context_.limits, std::move(head), {stream.length, framing.chunked});
  if (request.method == Method::head || !stream.length) co_await sink.flush();
  if (request.method == Method::head) co_return framing.keep_alive;
  std::exception_ptr failure;
  try {
    co_await stream.produce(sink);
    co_await sink.finish();
  } catch (...) {
    failure = std::current_exception();
  }
  if (!failure) {
    log_answer(request, response, context_.access_log, *context_.failure_pace);
    co_return framing.keep_alive;
  }
  if (cancelled_ || sink.started()) {
    log::debug("stream broke off", {{"request_id", request.id}});
    // Ends run() without completing the body, so that the client sees it as truncated.
    throw boost::system::system_error(asio::error::connection_aborted);
  }
  framing = {.keep_alive = false, .http11 = framing.http11};
  if (is_cut_off())
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  const Response answer = refusal(request, failure);
  co_await send_text(request, answer, framing);
  co_return false;
}

Task<void> Connection::upgrade(const Request& request, Response& response) {
  phase_ = Phase::streaming_messages;
  co_await serve_websocket(transport_, request, response, context_.limits);
}

Task<bool> Connection::relay(const Request& request, RelayBody& relay, const RequestParser& parser,
                             ConnectionBody& body) {
  ClientRelay client(transport_, buffer_, body, relay_timer_, parser.is_http11());
  client.may_keep_alive = [&] { return can_continue(parser, body); };
  client.when_upgraded = [this] { phase_ = Phase::streaming_messages; };
  std::exception_ptr failure;
  bool more = false;
  try {
    more = co_await relay.serve(client);
  } catch (...) {
    failure = std::current_exception();
  }
  relay_timer_ = {};
  if (failure) {
    // A started answer can only be cut off, so that the client does not take it for complete.
    if (cancelled_ || client.started() || body.broken())
      throw boost::system::system_error(asio::error::connection_aborted);
    Framing framing{.keep_alive = can_continue(parser, body), .http11 = parser.is_http11()};
    if (is_cut_off())
      co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    Response answer = refusal(request, failure);
    co_return co_await send(request, answer, framing);
  }
  more = more && can_continue(parser, body);
  if (!more) co_await linger();
  co_return more;
}

Task<void> Connection::linger() {
  phase_ = Phase::closing;
  // The client has its answer: this connection may be evicted like an idle one.
  connections_->set_waiting(handle_, true);
  const auto silence = is_cut_off() ? kLastSilence : kLingerSilence;
  transport_.deadline.arm(silence);
  // async_shutdown stops at data received after our close_notify; the loop below drops the rest.
  if (auto* tls = transport_.tls())
    co_await tls->async_shutdown(asio::as_tuple(asio::use_awaitable));
  transport_.shutdown_send();
  const auto end = std::chrono::steady_clock::now() + (is_cut_off() ? kLastLinger : kLinger);
  for (size_t dropped = 0; dropped < kLingerBytes && std::chrono::steady_clock::now() < end;) {
    transport_.deadline.arm(silence);
    buffer_.clear();
    const auto into = buffer_.prepare(kLingerPiece);
    const size_t bytes = co_await transport_.drop_some(into);
    if (bytes == 0) break;
    dropped += bytes;
  }
}

}  // namespace sandgate::http
