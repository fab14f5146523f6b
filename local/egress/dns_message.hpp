#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sandgate::egress {

// A question to a sandbox's resolver: exactly one per message, of class IN. Other messages are
// refused before their names are considered.
struct DnsQuestion {
  uint16_t id = 0;
  bool recursion_desired = false;
  std::string name;  // lower case, without the final dot; "" is the root
  uint16_t type = 0;
  std::string wire;  // the question section as sent, to be echoed (0x20 mixed case survives)
  uint16_t payload_limit = 512;  // of a UDP answer: EDNS0's, at most 1232
};

enum class DnsCode : uint8_t {
  ok = 0,
  format_error = 1,
  server_failure = 2,
  no_such_name = 3,
  not_implemented = 4,
  refused = 5
};

inline constexpr uint16_t kTypeA = 1;  // the only addresses that are answered

struct DnsRefusal {
  uint16_t id = 0;
  DnsCode code = DnsCode::format_error;
};

// A parsed message: a question, or a refusal to send, or neither when the message must be dropped
// (shorter than a header, or itself a response). Parsing reads nothing outside `message`.
struct DnsParsed {
  std::optional<DnsQuestion> question;
  std::optional<DnsRefusal> refusal;
};
DnsParsed parse_dns_query(std::string_view message);

// Encode responses. `ttl_seconds` is how long a resolver inside may cache the address.
std::string dns_refusal(const DnsRefusal& refusal);
std::string dns_answer(const DnsQuestion& question, DnsCode code);  // without records
std::string dns_answer_v4(const DnsQuestion& question, const std::array<uint8_t, 4>& address,
                          uint32_t ttl_seconds);

}  // namespace sandgate::egress
