#include "providers/agentcore/aws_event_stream.hpp"

#include <boost/crc.hpp>

#include <cctype>

namespace sandgate::aws {
namespace {

// The prelude: total length, header length and their checksum, 4 bytes each.
constexpr size_t kPrelude = 12, kChecksum = 4;
constexpr size_t kMaxHeaders = 128 << 10;
// Types of header values; the enumerators have the protocol's numbers.
enum HeaderType { yes, no, byte, int16, int32, int64, bytes, text, timestamp, uuid };

Error broken(const char* how) {
  return Error(ErrorCode::unavailable, std::string("the backend ") + how);
}

uint64_t number_at(std::string_view from, size_t at, size_t size) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) value = value << 8 | static_cast<unsigned char>(from[at + i]);
  return value;
}

uint32_t checksum_of(std::string_view of) {
  boost::crc_32_type crc;
  crc.process_bytes(of.data(), of.size());
  return crc.checksum();
}

// Takes bytes from the front; throws Error(unavailable) if there are too few.
class Cursor {
 public:
  explicit Cursor(std::string_view rest) : rest_(rest) {}
  bool is_at_end() const { return rest_.empty(); }
  std::string_view take(size_t size) {
    if (size > rest_.size()) throw broken("sent a record whose headers do not fit");
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  size_t number(size_t size) { return number_at(take(size), 0, size); }

 private:
  std::string_view rest_;
};

size_t fixed_size(size_t type) {
  switch (type) {
    case yes:
    case no:
      return 0;
    case byte:
      return 1;
    case int16:
      return 2;
    case int32:
      return 4;
    case int64:
    case timestamp:
      return 8;
    case uuid:
      return 16;
    default:
      throw broken("sent a header of an unknown type");
  }
}

std::map<std::string, std::string> headers_of(std::string_view block) {
  std::map<std::string, std::string> headers;
  for (Cursor cursor(block); !cursor.is_at_end();) {
    const std::string name(cursor.take(cursor.number(1)));
    const size_t type = cursor.number(1);
    const bool sized = type == bytes || type == text;
    const std::string_view value = cursor.take(sized ? cursor.number(2) : fixed_size(type));
    if (type == text) headers.emplace(name, value);
  }
  return headers;
}

std::string header_of(const EventMessage& message, const char* name) {
  const auto found = message.headers.find(name);
  return found == message.headers.end() ? "" : found->second;
}

}  // namespace

void EventMessageSplitter::add(std::string_view more) {
  open_.append(more);
  size_t at = 0;
  while (open_.size() - at >= kPrelude) {
    const std::string_view rest = std::string_view(open_).substr(at);
    const size_t total = number_at(rest, 0, 4), headers = number_at(rest, 4, 4);
    if (checksum_of(rest.substr(0, 8)) != number_at(rest, 8, 4))
      throw broken("sent a record with a wrong checksum");
    if (total > max_message_ || headers > kMaxHeaders) throw broken("sent an endless record");
    if (total < kPrelude + headers + kChecksum) throw broken("sent a record that cannot be");
    if (rest.size() < total) break;
    const size_t end = total - kChecksum;
    if (checksum_of(rest.substr(0, end)) != number_at(rest, end, kChecksum))
      throw broken("sent a record with a wrong checksum");
    messages_.push_back({headers_of(rest.substr(kPrelude, headers)),
                         std::string(rest.substr(kPrelude + headers, end - kPrelude - headers))});
    at += total;
  }
  open_.erase(0, at);
}

std::optional<EventMessage> EventMessageSplitter::next() {
  if (messages_.empty()) return std::nullopt;
  EventMessage message = std::move(messages_.front());
  messages_.pop_front();
  return message;
}

EventMessageReader::EventMessageReader(std::string provider, std::unique_ptr<ByteSource> source)
    : provider_(std::move(provider)), source_(std::move(source)), buffer_(64 << 10, '\0') {}

Task<std::optional<EventMessageReader::Event>> EventMessageReader::next() {
  for (;;) {
    if (auto message = splitter_.next()) {
      const std::string type = header_of(*message, ":message-type");
      if (type == "exception")
        throw error_of_exception(provider_, header_of(*message, ":exception-type"));
      if (type != "event") throw error_of_exception(provider_, "");
      co_return Event{header_of(*message, ":event-type"), std::move(message->payload)};
    }
    const size_t count = co_await source_->read(buffer_);
    if (count == 0 && splitter_.is_inside()) throw broken("ended the stream inside a record");
    if (count == 0) co_return std::nullopt;
    splitter_.add(std::string_view(buffer_).substr(0, count));
  }
}

Error error_of_exception(std::string_view provider, std::string_view name) {
  const std::string owner(provider);
  std::string known(name.substr(0, 80));
  if (!known.empty())
    known[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(known[0])));
  if (known == "AccessDeniedException" || known == "UnauthorizedException")
    return credentials_refused(owner);
  static const std::map<std::string, ErrorCode> kCodes{
      {"ValidationException", ErrorCode::invalid},
      {"ResourceNotFoundException", ErrorCode::not_found},
      {"ConflictException", ErrorCode::conflict},
      {"ServiceQuotaExceededException", ErrorCode::no_capacity},
      {"ThrottlingException", ErrorCode::rate_limited}};
  const auto found = kCodes.find(known);
  const bool is_known = found != kCodes.end();
  Error error(is_known ? found->second : ErrorCode::unavailable,
              is_known ? owner + " says " + known : owner + " failed");
  error.provider = owner;
  return error;
}

}  // namespace sandgate::aws
