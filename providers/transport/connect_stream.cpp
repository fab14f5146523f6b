#include "providers/transport/connect_stream.hpp"

#include "gateway/core/json_text.hpp"
#include "gateway/core/utf8.hpp"
#include "providers/vendor_json.hpp"

namespace sandgate::connect {
namespace {

constexpr size_t kHeadSize = 5;
constexpr unsigned char kLastFlag = 2;
constexpr size_t kMaxCode = 40;

Error broken(std::string_view what) {
  return Error(ErrorCode::unavailable, "the backend " + std::string(what));
}

size_t length_of(std::string_view head) {
  size_t length = 0;
  for (size_t i = 1; i < kHeadSize; ++i) length = length << 8 | static_cast<unsigned char>(head[i]);
  return length;
}

ErrorCode code_of_name(std::string_view name) {
  // permission_denied comes from the sandbox's own system, for example from a file's mode.
  if (name == "invalid_argument" || name == "out_of_range" || name == "permission_denied")
    return ErrorCode::invalid;
  if (name == "failed_precondition" || name == "already_exists" || name == "aborted")
    return ErrorCode::conflict;
  if (name == "not_found") return ErrorCode::not_found;
  if (name == "resource_exhausted") return ErrorCode::quota_exceeded;
  if (name == "unimplemented") return ErrorCode::unsupported;
  if (name == "deadline_exceeded") return ErrorCode::timeout;
  return ErrorCode::unavailable;
}

}  // namespace

std::string envelope(const Json& message, bool last) {
  const std::string text = json_text(message);
  std::string bytes(1, last ? static_cast<char>(kLastFlag) : '\0');
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes.push_back(static_cast<char>(text.size() >> shift & 0xFF));
  return bytes + text;
}

void EnvelopeSplitter::add(std::string_view bytes) {
  open_.append(bytes);
  size_t at = 0;
  while (open_.size() - at >= kHeadSize) {
    const std::string_view rest = std::string_view(open_).substr(at);
    const auto flags = static_cast<unsigned char>(rest[0]);
    const size_t length = length_of(rest);
    if (length > max_message_) throw broken("sent an endless record");
    if ((flags & ~kLastFlag) != 0) throw broken("sent a record of a form that was not asked for");
    if (rest.size() - kHeadSize < length) break;
    Json json = parse_record(rest.substr(kHeadSize, length));
    if (!json.is_object()) throw broken("sent a record that is no object");
    messages_.push_back({flags == kLastFlag, std::move(json)});
    at += kHeadSize + length;
  }
  open_.erase(0, at);
}

std::optional<Message> EnvelopeSplitter::next() {
  if (messages_.empty()) return std::nullopt;
  Message message = std::move(messages_.front());
  messages_.pop_front();
  return message;
}

MessageReader::MessageReader(std::string provider, std::unique_ptr<HttpStream> source)
    : provider_(std::move(provider)), source_(std::move(source)), buffer_(64 << 10, '\0') {}

Task<std::optional<Json>> MessageReader::next() {
  if (ended_) co_return std::nullopt;
  for (;;) {
    if (auto message = splitter_.next()) {
      if (!message->last) co_return std::move(message->json);
      ended_ = true;
      if (message->json.contains("error")) throw error_of(provider_, message->json["error"]);
      co_return std::nullopt;
    }
    const size_t count = co_await source_->read(buffer_);
    if (count == 0) throw broken("ended the stream before its end");
    splitter_.add(std::string_view(buffer_).substr(0, count));
  }
}

Error error_of(std::string_view provider, const Json& document) {
  const std::string name(provider);
  const auto found = document.is_object() ? document.find("code") : document.end();
  const std::string code = document.is_object() && found != document.end() && found->is_string()
                               ? found->get<std::string>()
                               : "unknown";
  if (code == "unauthenticated") return credentials_refused(name);
  const std::string_view told = std::string_view(code).substr(0, kMaxCode);
  Error error(code_of_name(code), name + " says " + std::string(without_cut_character(told)));
  error.provider = name;
  return error;
}

Error read_error(std::string_view provider, const HttpReply& reply) {
  const Json document = parse_answer(reply.body);
  const bool named =
      document.is_object() && document.contains("code") && document["code"].is_string();
  Error by_status = error_of_status(provider, reply.status, reply.headers);
  if (!named) return by_status;
  Error error = error_of(provider, document);
  error.retry_after = by_status.retry_after;
  // The name means a full quota as well as too many requests; only the latter pass by themselves.
  if (error.code == ErrorCode::quota_exceeded && error.retry_after)
    error.code = ErrorCode::rate_limited;
  return error;
}

}  // namespace sandgate::connect
