#include "local/egress/dns_message.hpp"

#include <algorithm>

#include "gateway/core/field_text.hpp"

namespace sandgate::egress {
namespace {

constexpr size_t kHeader = 12;
constexpr size_t kMaxName = 255, kMaxLabel = 63;
constexpr uint16_t kClassIn = 1, kTypeOpt = 41;
constexpr uint16_t kSafePayload = 1232;  // never fragmented, as it fits the minimum MTU of IPv6
constexpr uint8_t kResponse = 0x80, kOpcode = 0x78, kTruncated = 0x02, kRecursionDesired = 0x01;
constexpr uint8_t kRecursionAvailable = 0x80;

uint16_t word(std::string_view bytes, size_t at) {
  return static_cast<uint16_t>(static_cast<uint8_t>(bytes[at]) << 8 |
                               static_cast<uint8_t>(bytes[at + 1]));
}

void put_word(std::string& out, uint16_t value) {
  out.push_back(static_cast<char>(value >> 8));
  out.push_back(static_cast<char>(value & 0xff));
}

// Reads an uncompressed name at `at` and advances `at` behind it. A compression pointer is
// malformed: nothing precedes a question that it could point to.
std::optional<std::string> read_name(std::string_view message, size_t& at) {
  std::string name;
  const size_t begin = at;
  while (at < message.size()) {
    const auto length = static_cast<uint8_t>(message[at++]);
    if (length == 0) return name;
    if (length > kMaxLabel || at + length > message.size() || at + length - begin > kMaxName)
      return std::nullopt;
    if (!name.empty()) name.push_back('.');
    for (const char c : message.substr(at, length)) {
      // Rules would take a dot inside a label for the end of the label.
      if (c == '.' || c == '\0') return std::nullopt;
      name.push_back(ascii_lower(c));
    }
    at += length;
  }
  return std::nullopt;
}

// Reads the payload size of an OPT record directly after the question; ignores other records.
uint16_t payload_limit(std::string_view message, size_t at, uint16_t additional) {
  if (additional == 0 || at + 5 > message.size() || message[at] != 0 ||
      word(message, at + 1) != kTypeOpt)
    return 512;
  return std::clamp<uint16_t>(word(message, at + 3), 512, kSafePayload);
}

std::string header(uint16_t id, bool recursion_desired, DnsCode code, uint16_t questions,
                   uint16_t answers) {
  std::string out;
  put_word(out, id);
  out.push_back(static_cast<char>(kResponse | (recursion_desired ? kRecursionDesired : 0)));
  out.push_back(static_cast<char>(kRecursionAvailable | static_cast<uint8_t>(code)));
  for (const uint16_t count : {questions, answers, uint16_t{0}, uint16_t{0}}) put_word(out, count);
  return out;
}

}  // namespace

DnsParsed parse_dns_query(std::string_view message) {
  if (message.size() < kHeader) return {};
  const auto flags = static_cast<uint8_t>(message[2]);
  if (flags & kResponse) return {};
  const uint16_t id = word(message, 0);
  const auto refuse = [&](DnsCode code) { return DnsParsed{std::nullopt, DnsRefusal{id, code}}; };
  if (flags & kOpcode) return refuse(DnsCode::not_implemented);
  if (flags & kTruncated || word(message, 4) != 1 || word(message, 6) != 0 || word(message, 8) != 0)
    return refuse(DnsCode::format_error);
  size_t at = kHeader;
  auto name = read_name(message, at);
  if (!name || at + 4 > message.size()) return refuse(DnsCode::format_error);
  if (word(message, at + 2) != kClassIn) return refuse(DnsCode::refused);
  DnsQuestion question;
  question.id = id;
  question.recursion_desired = flags & kRecursionDesired;
  question.name = std::move(*name);
  question.type = word(message, at);
  question.wire = std::string(message.substr(kHeader, at + 4 - kHeader));
  question.payload_limit = payload_limit(message, at + 4, word(message, 10));
  return {std::move(question), std::nullopt};
}

std::string dns_refusal(const DnsRefusal& refusal) {
  return header(refusal.id, /*recursion_desired=*/false, refusal.code, 0, 0);
}

std::string dns_answer(const DnsQuestion& question, DnsCode code) {
  return header(question.id, question.recursion_desired, code, 1, 0) + question.wire;
}

std::string dns_answer_v4(const DnsQuestion& question, const std::array<uint8_t, 4>& address,
                          uint32_t ttl_seconds) {
  std::string out =
      header(question.id, question.recursion_desired, DnsCode::ok, 1, 1) + question.wire;
  put_word(out, 0xc000 | kHeader);  // the question's name
  put_word(out, kTypeA);
  put_word(out, kClassIn);
  put_word(out, static_cast<uint16_t>(ttl_seconds >> 16));
  put_word(out, static_cast<uint16_t>(ttl_seconds));
  put_word(out, static_cast<uint16_t>(address.size()));
  for (const uint8_t byte : address) out.push_back(static_cast<char>(byte));
  return out;
}

}  // namespace sandgate::egress
