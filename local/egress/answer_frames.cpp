#include "local/egress/answer_frames.hpp"

#include <algorithm>

#include "gateway/core/field_text.hpp"

namespace sandgate::egress {
namespace {

constexpr size_t kLongestHead = 64 * 1024;
constexpr int kMostDigits = 15;
constexpr size_t kMostFraming = 32;  // between two bytes of content; honest servers need half of it
constexpr std::string_view kHexDigits = "0123456789abcdef";

size_t hex_value(char c) { return kHexDigits.find(ascii_lower(c)); }

}  // namespace

AnswerFrames::Run AnswerFrames::next(std::string_view bytes) {
  const Run run = read(bytes);
  framing_ = run.is_framing ? framing_ + run.bytes : 0;
  // A caller that waits for the next content buffers the framing, which must stay bounded.
  if (framing_ > kMostFraming) state_ = State::rest;
  return run;
}

AnswerFrames::Run AnswerFrames::read(std::string_view bytes) {
  switch (state_) {
    case State::head:
      return read_head(bytes);
    case State::size:
      return read_size(bytes);
    case State::extension: {
      const size_t end = std::min(bytes.find('\r'), bytes.size());
      if (end > 0) return {end, false};
      state_ = State::size;
      return read_size(bytes);
    }
    case State::data: {
      const auto count = static_cast<size_t>(std::min<uint64_t>(left_, bytes.size()));
      left_ -= count;
      if (left_ == 0) state_ = State::data_end;
      return {count, false};
    }
    case State::data_end:
      if (bytes[0] == '\n') state_ = State::size;
      if (bytes[0] == '\n' || bytes[0] == '\r') return {1, true};
      state_ = State::rest;
      [[fallthrough]];
    case State::rest:
      return {bytes.size(), false};
  }
  return {bytes.size(), false};
}

AnswerFrames::Run AnswerFrames::read_head(std::string_view bytes) {
  size_t count = 0;
  while (count < bytes.size()) {
    head_ += bytes[count++];
    if (head_.ends_with("\r\n\r\n") || head_.ends_with("\n\n")) {
      state_ = after_head();
      head_.clear();
      break;
    }
    if (head_.size() > kLongestHead) {
      state_ = State::rest;
      break;
    }
  }
  return {count, false};
}

AnswerFrames::State AnswerFrames::after_head() const {
  const size_t status = head_.find(' ') + 1;
  const bool is_interim =
      head_.compare(status, 1, "1") == 0 && head_.compare(status, 3, "101") != 0;
  if (is_interim) return State::head;
  const std::string lower = ascii_lower(head_);
  const size_t field = lower.find("\ntransfer-encoding:");
  if (field == std::string::npos) return State::rest;
  const std::string line = lower.substr(field + 1, lower.find('\n', field + 1) - field);
  return line.find("chunked") == std::string::npos ? State::rest : State::size;
}

// A size, then perhaps an extension, which counts as content, then the end of the line.
AnswerFrames::Run AnswerFrames::read_size(std::string_view bytes) {
  const char c = bytes[0];
  if (c == '\n') {
    state_ = digits_ == 0 || left_ == 0 ? State::rest : State::data;
    digits_ = 0;
    return {1, true};
  }
  if (c == '\r') return {1, true};
  const size_t digit = hex_value(c);
  if (digit == std::string_view::npos && digits_ > 0) {
    state_ = State::extension;
    return {1, false};
  }
  if (digit == std::string_view::npos || digits_ == kMostDigits) {
    state_ = State::rest;
    return {bytes.size(), false};
  }
  if (digits_++ == 0) left_ = 0;
  left_ = left_ * 16 + digit;
  return {1, true};
}

}  // namespace sandgate::egress
