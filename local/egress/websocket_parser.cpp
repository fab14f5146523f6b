#include "local/egress/websocket_parser.hpp"

#include <algorithm>

namespace sandgate::egress {
namespace {

constexpr uint8_t kFinal = 0x80, kReserved = 0x70, kOpcodeBits = 0x0f;
constexpr uint8_t kMasked = 0x80, kLength = 0x7f;
constexpr uint8_t kControl = 0x8;  // a bit of the opcode
constexpr uint8_t kMaxOpcode = 2;  // without that bit
constexpr uint8_t kMaxOfControl = 125;

// By the length in the second byte of a frame.
size_t head_size(uint8_t length) { return length < 126 ? 2 : length == 126 ? 4 : 10; }

}  // namespace

ResponseSpan WebSocketParser::next(std::string_view bytes) {
  if (left_ == 0) return read_head(bytes[0]);
  const auto count = static_cast<size_t>(std::min<uint64_t>(left_, bytes.size()));
  left_ -= count;
  const auto kind = is_control() ? ResponseSpan::Kind::control : ResponseSpan::Kind::content;
  return {count, kind, left_ == 0 && is_final()};
}

ResponseSpan WebSocketParser::read_head(char next) {
  if (head_.size() >= 2 && head_.size() == head_size(head_[1] & kLength)) head_.clear();
  head_ += next;
  if (is_wrong()) return {1, ResponseSpan::Kind::lost, false};
  if (head_.size() < 2 || head_.size() < head_size(head_[1] & kLength))
    return {1, ResponseSpan::Kind::framing, false};
  left_ = head_.size() == 2 ? head_[1] & kLength : 0;
  for (const char one : std::string_view(head_).substr(2))
    left_ = left_ << 8 | static_cast<uint8_t>(one);
  return {1, ResponseSpan::Kind::framing, left_ == 0 && is_final() && !is_control()};
}

bool WebSocketParser::is_wrong() const {
  const uint8_t opcode = head_[0] & kOpcodeBits;
  if ((head_[0] & kReserved) || (opcode & ~kControl) > kMaxOpcode) return true;
  if (is_control() && !is_final()) return true;
  if (head_.size() < 2) return false;
  return (head_[1] & kMasked) || (is_control() && (head_[1] & kLength) > kMaxOfControl);
}

bool WebSocketParser::is_control() const { return head_[0] & kControl; }

bool WebSocketParser::is_final() const { return head_[0] & kFinal; }

}  // namespace sandgate::egress
