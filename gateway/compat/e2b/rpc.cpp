#include "gateway/compat/e2b/rpc.hpp"

#include "gateway/compat/e2b/error_format.hpp"
#include "gateway/core/bounded_json.hpp"
#include "gateway/core/crypto.hpp"
#include "gateway/core/number_text.hpp"
#include "gateway/core/settle.hpp"
#include "gateway/http/problem.hpp"
#include "providers/transport/connect_stream.hpp"

namespace sandgate::compat::e2b {
namespace {

constexpr std::string_view kUnaryType = "application/json",
                           kStreamType = "application/connect+json";
constexpr size_t kHeadSize = 5;
constexpr size_t kMessagesATurn = 64;
constexpr size_t kPiece = 64 << 10;
constexpr int64_t kLongestMs = 9'999'999'999;  // ten digits, the protocol's limit
constexpr int64_t kForTheAnswerMs = 50;

std::string_view media_type(const http::Request& request) {
  const std::string_view type = request.headers.find("Content-Type").value_or("");
  return type.substr(0, type.find_first_of("; "));
}

bool is_compressed(const http::Request& request, std::string_view header) {
  return request.headers.find(header).value_or("identity") != "identity";
}

// Returns the length of the message from the head of its envelope.
size_t message_length(std::string_view head) {
  if (head.size() < kHeadSize) throw Error(ErrorCode::invalid, "the envelope is cut off");
  if (head[0] & 1) throw Error(ErrorCode::unsupported, "compressed messages are not supported");
  if (head[0] != 0) throw Error(ErrorCode::invalid, "the envelope has unknown flags");
  size_t length = 0;
  for (size_t i = 1; i < kHeadSize; ++i) length = length << 8 | static_cast<unsigned char>(head[i]);
  return length;
}

std::string_view content_of_envelope(std::string_view body) {
  if (message_length(body) != body.size() - kHeadSize)
    throw Error(ErrorCode::invalid, "the envelope's length is not that of its message");
  return body.substr(kHeadSize);
}

Json object_from(std::string_view text) {
  Json message = parse_bounded_json(text);
  if (!message.is_object()) throw Error(ErrorCode::invalid, "the message is not an object");
  return message;
}

std::optional<int64_t> header_number(const http::Request& request, std::string_view name) {
  const auto text = request.headers.find(name);
  if (!text) return std::nullopt;
  const auto number = number_from<int64_t>(*text);
  if (!number || *number < 0 || *number > kLongestMs)
    throw Error::invalid("/" + std::string(name), "must be a whole number");
  return number;
}

// Sends the messages and then the end of the stream, which carries the failure of `produce` if
// there is one. Throws only if the client is gone.
Task<void> produce_all(const MessageStream& stream, http::SharedSink& sink) {
  MessageWriter writer(sink);
  std::exception_ptr failure;
  bool in_time = true;
  try {
    auto work = stream.produce(writer);
    if (stream.limit.count() > 0) {
      const auto done = co_await with_timeout(stream.limit, std::move(work));
      in_time = done.has_value();
    } else {
      co_await std::move(work);
    }
  } catch (const boost::system::system_error&) {
    throw;
  } catch (...) {
    failure = std::current_exception();
  }
  Json end = Json::object();
  if (failure) end["error"] = connect_error(http::as_error(failure, stream.request_id));
  if (!in_time) end["error"] = connect_error(Error(ErrorCode::timeout, "the deadline has passed"));
  std::string bytes = connect::envelope(end, /*last=*/true);
  co_await sink.write(std::move(bytes));
}

Task<void> serve(std::shared_ptr<const MessageStream> stream, http::BodySink& sink) {
  http::SharedSink shared(sink, co_await asio::this_coro::executor);
  std::string sign = connect::envelope(stream->keep_alive_message);
  auto both = with_companion(produce_all(*stream, shared),
                             shared.keep_alive(stream->interval, std::move(sign)));
  co_await std::move(both);
}

}  // namespace

Json message_of(const http::Request& request) {
  const std::string_view type = media_type(request);
  if (type != kUnaryType && type != kStreamType)
    throw Error(ErrorCode::unsupported, "only Connect with JSON is supported here");
  if (is_compressed(request, "Content-Encoding") ||
      is_compressed(request, "Connect-Content-Encoding"))
    throw Error(ErrorCode::unsupported, "compressed messages are not supported");
  const std::string_view text =
      type == kStreamType ? content_of_envelope(request.body) : std::string_view(request.body);
  return object_from(text);
}

void check_stream(const http::Request& request) {
  if (media_type(request) != kStreamType || is_compressed(request, "Connect-Content-Encoding"))
    throw Error(ErrorCode::unsupported, "only a stream of plain JSON messages is accepted here");
}

// Whether at least that many bytes are held; false at the end of the stream.
Task<bool> MessageSource::hold(size_t bytes) {
  while (held_.size() - taken_ < bytes) {
    held_.erase(0, std::exchange(taken_, 0));
    const size_t size = held_.size();
    if (seat_) seat_->grow_to(size);
    held_.resize(size + kPiece);
    const std::span<char> room(held_.data() + size, kPiece);
    const size_t count = co_await body_.read(room);
    held_.resize(size + count);
    if (count == 0 && held_.empty()) co_return false;
    if (count == 0) throw Error(ErrorCode::invalid, "the envelope is cut off");
  }
  co_return true;
}

// Messages that fit into one piece are not worth a timer: connections bound them.
Task<void> MessageSource::hold_message(size_t bytes) {
  if (bytes <= kPiece) {
    co_await hold(bytes);
    co_return;
  }
  seat_.emplace(room_, tenant_);
  const std::chrono::milliseconds earned(1000 * bytes / pace_.bytes_per_second);
  auto holding = within(pace_.patience + earned, hold(bytes));
  co_await std::move(holding);
}

Task<std::optional<Json>> MessageSource::next() {
  seat_.reset();
  // One read may contain thousands of small messages, so other coroutines get a turn.
  if (++messages_ % kMessagesATurn == 0) co_await asio::post(asio::use_awaitable);
  const bool more = co_await hold(kHeadSize);
  if (!more) co_return std::nullopt;
  const size_t length = message_length(std::string_view(held_).substr(taken_));
  if (length > kMaxMessageBytes)
    throw Error(ErrorCode::too_large, "a message is larger than 4 MiB");
  co_await hold_message(kHeadSize + length);
  Json message = object_from(std::string_view(held_).substr(taken_ + kHeadSize, length));
  taken_ += kHeadSize + length;
  if (held_.capacity() > 2 * kPiece) held_ = held_.substr(std::exchange(taken_, 0));
  co_return message;
}

// Some clients count as well, and fail with an error of their HTTP library when they are first.
std::chrono::milliseconds timeout_of(const http::Request& request) {
  const int64_t limit = header_number(request, "Connect-Timeout-Ms").value_or(0);
  return std::chrono::milliseconds(limit - std::min(limit / 20, kForTheAnswerMs));
}

std::chrono::milliseconds ping_interval_of(const http::Request& request) {
  const int64_t seconds = header_number(request, "Keepalive-Ping-Interval").value_or(90);
  return std::chrono::seconds(std::clamp<int64_t>(seconds, 1, 300));
}

std::string bytes_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return "";
  auto bytes = found->is_string() ? base64_decode(found->get_ref<const std::string&>())
                                  : std::optional<std::string>();
  if (!bytes) throw Error::invalid(std::string("/") + name, "must be base64");
  return std::move(*bytes);
}

int64_t number_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return 0;
  if (const auto number = whole_number(*found)) return *number;
  if (found->is_string())
    if (const auto number = number_from<int64_t>(found->get_ref<const std::string&>()))
      return *number;
  throw Error::invalid(std::string("/") + name, "must be an integer");
}

bool has_member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && !found->is_null();
}

Json object_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_object() ? *found : Json::object();
}

Task<void> MessageWriter::send(const Json& message) {
  return sink_.write(connect::envelope(message));
}

Task<void> MessageWriter::send_all(const std::vector<Json>& messages) {
  std::string text;
  for (const Json& message : messages) text += connect::envelope(message);
  return sink_.write(std::move(text));
}

http::Response message_stream(MessageStream stream) {
  const auto shared = std::make_shared<const MessageStream>(std::move(stream));
  http::Response response = http::Response::streaming(std::string(kStreamType));
  response.body = http::StreamBody{std::nullopt,
                                   [shared](http::BodySink& sink) { return serve(shared, sink); }};
  return response;
}

http::Response empty_stream() {
  http::Response response = http::Response::streaming(std::string(kStreamType));
  const Json nothing = Json::object();
  response.body = connect::envelope(nothing) + connect::envelope(nothing, /*last=*/true);
  return response;
}

}  // namespace sandgate::compat::e2b
