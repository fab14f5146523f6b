#include "local/egress/client_hello.hpp"

#include <cstdint>

#include "gateway/core/field_text.hpp"

namespace sandgate::egress {
namespace {

constexpr uint8_t kHandshake = 22, kClientHello = 1;
constexpr size_t kRecordHeader = 5, kMaxRecord = 16384;
constexpr uint16_t kServerName = 0, kAlpn = 16, kEncryptedClientHello = 0xfe0d;

// Reads fields from the front of a buffer; bad() once a field exceeded it.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  size_t number(size_t width) {
    if (rest_.size() < width) return fail(), 0;
    size_t value = 0;
    for (size_t i = 0; i < width; ++i) value = value << 8 | static_cast<uint8_t>(rest_[i]);
    rest_.remove_prefix(width);
    return value;
  }
  std::string_view bytes(size_t count) {
    if (rest_.size() < count) return fail(), std::string_view();
    const auto piece = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return piece;
  }
  // A TLS vector: its length in `width` bytes, then its content.
  std::string_view field(size_t width) { return bytes(number(width)); }

  bool empty() const { return rest_.empty(); }
  bool bad() const { return bad_; }

 private:
  void fail() {
    bad_ = true;
    rest_ = {};
  }
  std::string_view rest_;
  bool bad_ = false;
};

bool is_host_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}

// Empty when the extension does not hold exactly one usable name.
std::optional<std::string> server_name(std::string_view extension) {
  Reader list(Reader(extension).field(2));
  if (list.number(1) != 0) return std::nullopt;
  std::string name(list.field(2));
  if (list.bad() || !list.empty() || name.empty() || name.size() > 253) return std::nullopt;
  for (char& c : name) {
    c = ascii_lower(c);
    if (!is_host_character(c)) return std::nullopt;
  }
  return name;
}

bool read_extension(size_t type, std::string_view content, ClientHello& hello) {
  if (type == kServerName) {
    // Other parsers could interpret two names, or an invalid host name, differently.
    if (hello.server_name) return false;
    hello.server_name = server_name(content);
    return hello.server_name.has_value();
  }
  if (type == kAlpn) {
    Reader protocols(Reader(content).field(2));
    while (!protocols.empty()) hello.protocols.emplace_back(protocols.field(1));
    return !protocols.bad();
  }
  if (type == kEncryptedClientHello && !content.empty()) hello.encrypted_hello = content[0] == 0;
  return true;
}

HelloResult parse_body(std::string_view body) {
  Reader reader(body);
  reader.bytes(2 + 32);  // version and random
  reader.field(1);  // session id
  reader.field(2);  // cipher suites
  reader.field(1);  // compression
  HelloResult result{HelloState::complete, {}};
  if (!reader.bad() && reader.empty()) return result;  // extensions are optional
  Reader extensions(reader.field(2));
  while (!extensions.empty()) {
    const size_t type = extensions.number(2);
    const auto content = extensions.field(2);
    if (extensions.bad() || !read_extension(type, content, result.hello))
      return {HelloState::malformed, {}};
  }
  if (reader.bad() || !reader.empty()) return {HelloState::malformed, {}};
  return result;
}

uint8_t byte_at(std::string_view bytes, size_t at) { return static_cast<uint8_t>(bytes[at]); }

// Whether `bytes` may begin a TLS record that a server reads: some accept any version below 16.0.
bool may_be_record(std::string_view bytes) {
  constexpr uint8_t kVersions = 16;
  return begins_tls_record(bytes[0]) && (bytes.size() == 1 || byte_at(bytes, 1) < kVersions);
}

// The handshake bytes of the records received so far.
struct Gathered {
  std::string handshake;
  HelloState state = HelloState::incomplete;
};

Gathered gather(std::string_view bytes) {
  Gathered gathered;
  while (!bytes.empty()) {
    if (gathered.handshake.empty() && !may_be_record(bytes)) {
      gathered.state = HelloState::not_tls;
      return gathered;
    }
    // Some servers pass over an alert before the hello.
    if (byte_at(bytes, 0) != kHandshake || !may_be_record(bytes)) {
      gathered.state = HelloState::malformed;
      return gathered;
    }
    if (bytes.size() < kRecordHeader) return gathered;
    const size_t length = byte_at(bytes, 3) << 8 | byte_at(bytes, 4);
    if (length == 0 || length > kMaxRecord) {
      gathered.state = HelloState::malformed;
      return gathered;
    }
    gathered.handshake.append(bytes.substr(kRecordHeader, length));
    if (bytes.size() < kRecordHeader + length) return gathered;
    bytes.remove_prefix(kRecordHeader + length);
    // The hello is complete; ignore the records that follow.
    if (gathered.handshake.size() >= 4 &&
        gathered.handshake.size() >=
            4 + Reader(std::string_view(gathered.handshake).substr(1)).number(3))
      return gathered;
  }
  return gathered;
}

}  // namespace

HelloResult parse_client_hello(std::string_view bytes) {
  const Gathered gathered = gather(bytes);
  if (gathered.state != HelloState::incomplete) return {gathered.state, {}};
  Reader reader(gathered.handshake);
  if (!gathered.handshake.empty() && static_cast<uint8_t>(gathered.handshake[0]) != kClientHello)
    return {HelloState::malformed, {}};
  reader.number(1);
  const size_t length = reader.number(3);
  if (!reader.bad() && length > kMaxHelloBytes) return {HelloState::malformed, {}};
  const auto body = reader.bytes(length);
  if (reader.bad())
    return {bytes.size() > kMaxHelloBytes ? HelloState::malformed : HelloState::incomplete, {}};
  return parse_body(body);
}

}  // namespace sandgate::egress
