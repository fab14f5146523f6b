#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sandgate::egress {

// The plaintext fields of a TLS ClientHello.
struct ClientHello {
  std::optional<std::string> server_name;  // lower case; a valid host name
  std::vector<std::string> protocols;  // ALPN
  bool encrypted_hello = false;  // carries an encrypted_client_hello of type outer
};

enum class HelloState { incomplete, complete, not_tls, malformed };

struct HelloResult {
  HelloState state = HelloState::incomplete;
  ClientHello hello;  // when complete
};

// Whether a connection that begins with this byte begins with a TLS record, of any content type.
inline bool begins_tls_record(char first) { return first >= 0x14 && first <= 0x18; }

// Maximum length of a ClientHello; post-quantum key shares need more than one segment.
inline constexpr size_t kMaxHelloBytes = 32 * 1024;

// Parses all bytes that a client has sent so far; the hello may be split over segments and records.
// A hello still incomplete beyond kMaxHelloBytes is malformed, and so is another record before the
// hello. Reads nothing outside `bytes`.
HelloResult parse_client_hello(std::string_view bytes);

}  // namespace sandgate::egress
