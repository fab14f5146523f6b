#include "local/egress/websocket_parser.hpp"

#include <algorithm>

namespace sandgate::egress {
namespace {

constexpr uint8_t kFinal = 0x80, kReserved = 0x70, kOpcodeBits = 0x0f;
constexpr uint8_t kMasked = 0x80, kLength = 0x7f;
constexpr uint8_t kPing = 0x9, kPong = 0xa;

// By the length in the second byte of a frame.
size_t head_size(uint8_t length) { return length < 126 ? 2 : length == 126 ? 4 : 10; }

}  // namespace

ResponseSpan WebSocketParser::next(std::string_view bytes) {
  if (left_ == 0) return read_head(bytes[0]);
  const auto count = static_cast<size_t>(std::min<uint64_t>(left_, bytes.size()));
  left_ -= count;
  if (is_control_word()) return {count, ResponseSpan::Kind::framing, false};
  return {count, ResponseSpan::Kind::content, left_ == 0 && is_final()};
}

ResponseSpan WebSocketParser::read_head(char next) {
  if (head_.size() >= 2 && head_.size() == head_size(head_[1] & kLength)) head_.clear();
  head_ += next;
  const bool is_wrong = (head_[0] & kReserved) || (head_.size() == 2 && (head_[1] & kMasked));
  if (is_wrong) return {1, ResponseSpan::Kind::lost, false};
  if (head_.size() < 2 || head_.size() < head_size(head_[1] & kLength))
    return {1, ResponseSpan::Kind::framing, false};
  left_ = head_.size() == 2 ? head_[1] & kLength : 0;
  for (const char one : std::string_view(head_).substr(2))
    left_ = left_ << 8 | static_cast<uint8_t>(one);
  return {1, ResponseSpan::Kind::framing, left_ == 0 && is_final() && !is_control_word()};
}

bool WebSocketParser::is_control_word() const {
  return (head_[0] & kOpcodeBits) == kPing || (head_[0] & kOpcodeBits) == kPong;
}

bool WebSocketParser::is_final() const { return head_[0] & kFinal; }

}  // namespace sandgate::egress
