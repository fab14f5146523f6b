#include "gateway/http/websocket_session.hpp"

#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>

#include "gateway/core/byte_stream.hpp"
#include "gateway/http/problem.hpp"

namespace sandgate::http {
namespace {

namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;

constexpr auto kAsTuple = asio::as_tuple(asio::use_awaitable);
constexpr size_t kMaxCloseReason = 123;  // RFC 6455, 5.5.1
constexpr size_t kPiece = 64 * 1024;
constexpr size_t kAbsurd = 64;  // multiple of the message limit at which reading fails

// A started read or write always completes, even if its caller is cancelled: aborting it would
// leave the stream unable to send anything else, including a close frame.
class Session final : public WebSocket {
 public:
  Session(Transport& transport, const Limits& limits)
      : stream_(ByteStream(transport.socket(), transport.tls())),
        changed_(stream_.get_executor(), asio::steady_timer::time_point::max()),
        message_bytes_(limits.websocket_message_bytes),
        limits_(limits) {
    limit_silence(false);
    // With Beast's own limit the stream would close at once, and data the client still sends would
    // reset the connection before the client reads the reason. Only frames far beyond the limit
    // fail here.
    stream_.read_message_max(kAbsurd * message_bytes_);
    stream_.auto_fragment(false);
  }

  Task<void> accept(const Request& request, const Response& response) {
    beast::http::request<beast::http::empty_body> upgrade(beast::http::verb::get, request.target,
                                                          11);
    for (const auto& [name, value] : request.headers.fields()) upgrade.insert(name, value);
    // Of a field on several lines Beast reads the first.
    for (const char* name : {"Connection", "Upgrade"})
      upgrade.set(name, request.headers.list(name).value_or(""));
    stream_.set_option(websocket::stream_base::decorator([&](websocket::response_type& answer) {
      answer.set(beast::http::field::server, "sandgate");
      answer.set("X-Request-Id", request.id);
      for (const auto& [name, value] : response.headers) answer.set(name, value);
    }));
    co_await stream_.async_accept(upgrade, asio::use_awaitable);
  }

  Task<std::optional<WebSocketMessage>> read() override {
    if (reading_ == Step::none) {
      limit_silence(true);
      start_reading();
    }
    while (reading_ == Step::under_way) co_await change();
    if (read_failure_ || too_large()) co_return std::nullopt;
    reading_ = Step::none;
    WebSocketMessage message{stream_.got_text(), beast::buffers_to_string(buffer_.data())};
    buffer_.consume(buffer_.size());
    co_return message;
  }

  Task<void> write(WebSocketMessage message) override {
    while (writing_) co_await change();
    start_writing(std::move(message));
    while (writing_) co_await change();
    if (write_failure_) throw boost::system::system_error(write_failure_);
  }

  Task<void> close(uint16_t code, std::string reason) override {
    if (!stream_.is_open()) co_return;
    if (too_large()) {
      code = websocket::close_code::too_big;
      reason = "a message has at most " + std::to_string(message_bytes_) + " bytes";
    }
    if (reason.size() > kMaxCloseReason) reason.resize(kMaxCloseReason);
    const websocket::close_reason why(static_cast<websocket::close_code>(code), reason);
    co_await stream_.async_close(why, kAsTuple);
  }

  // Returns once no operation refers to this object. The socket must be closed before.
  Task<void> settle() {
    while (writing_ || reading_ == Step::under_way) co_await change();
  }

 private:
  enum class Step { none, under_way, done };

  // Only a read sees the answer to a ping: a client whose message is still being handled is not
  // silent.
  void limit_silence(bool limited) {
    websocket::stream_base::timeout timeouts{limits_.header_timeout, limits_.websocket_idle_timeout,
                                             true};
    if (!limited || limits_.websocket_idle_timeout.count() == 0)
      timeouts.idle_timeout = websocket::stream_base::none();
    stream_.set_option(timeouts);
  }

  // The rest of an oversized message is not read.
  bool too_large() const { return buffer_.size() > message_bytes_; }

  void start_reading() {
    reading_ = Step::under_way;
    stream_.async_read_some(buffer_, kPiece, [this](boost::system::error_code failure, size_t) {
      if (!failure && !too_large() && !stream_.is_message_done()) return start_reading();
      reading_ = Step::done;
      limit_silence(false);
      read_failure_ = failure;
      changed_.cancel();
    });
  }

  void start_writing(WebSocketMessage message) {
    outgoing_ = std::move(message.bytes);
    stream_.text(message.text);
    writing_ = true;
    stream_.async_write(asio::buffer(outgoing_), [this](boost::system::error_code failure, size_t) {
      writing_ = false;
      write_failure_ = failure;
      changed_.cancel();
    });
  }

  Task<void> change() { co_await changed_.async_wait(kAsTuple); }

  websocket::stream<ByteStream, false> stream_;
  asio::steady_timer changed_;  // never expires; cancelled when an operation completes
  const size_t message_bytes_;
  const Limits& limits_;
  beast::flat_buffer buffer_;
  std::string outgoing_;
  Step reading_ = Step::none;
  bool writing_ = false;
  boost::system::error_code read_failure_, write_failure_;
};

struct Goodbye {
  uint16_t code = websocket::close_code::normal;
  std::string reason;
};

// Maps how the handler ended to a close frame, which is sent even if the client is gone.
Task<Goodbye> handle(Session& session, const UpgradeBody& body, const std::string& id) {
  std::exception_ptr failure;
  try {
    co_await body.serve(session);
  } catch (const boost::system::system_error&) {
    co_return Goodbye{websocket::close_code::going_away, ""};
  } catch (...) {
    failure = std::current_exception();
  }
  if (!failure) co_return Goodbye{};
  // Cancelled operations that ran in parallel fail together, with another exception.
  const auto state = co_await asio::this_coro::cancellation_state;
  if (state.cancelled() != asio::cancellation_type::none)
    co_return Goodbye{websocket::close_code::going_away, ""};
  const auto code = as_error(failure, id).code;
  co_return Goodbye{websocket::close_code::internal_error, std::string(to_string(code))};
}

}  // namespace

Task<void> serve_websocket(Transport& transport, const Request& request, Response& response,
                           const Limits& limits) {
  auto& body = std::get<UpgradeBody>(response.body);
  Session session(transport, limits);
  co_await session.accept(request, response);
  const Goodbye goodbye = co_await handle(session, body, request.id);
  // Runs even after cancellation: it is short and bounded by the deadline.
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  transport.deadline.arm(kCloseTimeout);
  co_await session.close(goodbye.code, goodbye.reason);
  transport.close();
  co_await session.settle();
}

}  // namespace sandgate::http
