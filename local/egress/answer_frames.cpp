#include "local/egress/answer_frames.hpp"

#include <algorithm>

#include "gateway/core/field_text.hpp"

namespace sandgate::egress {
namespace {

using Kind = AnswerRun::Kind;

constexpr int kMostDigits = 15;
constexpr size_t kMostDropped = 4096;
constexpr std::string_view kHexDigits = "0123456789abcdef";

size_t hex_value(char c) { return kHexDigits.find(ascii_lower(c)); }

}  // namespace

AnswerRun AnswerFrames::next(std::string_view bytes) {
  switch (state_) {
    case State::head:
      return read_head(bytes);
    case State::data: {
      const auto count = static_cast<size_t>(std::min<uint64_t>(left_, bytes.size()));
      left_ -= count;
      if (left_ == 0) state_ = State::data_cr;
      return {count, Kind::content};
    }
    case State::rest:
      return {bytes.size(), Kind::content};
    case State::websocket: {
      const AnswerRun run = websocket_.next(bytes);
      return run.kind == Kind::lost ? lose() : run;
    }
    case State::lost:
      return lose();
    default:
      return read_line(bytes[0]);
  }
}

AnswerRun AnswerFrames::read_head(std::string_view bytes) {
  const size_t read = head_.size();
  head_ += bytes;
  const size_t end = end_of_answer_head(head_, read);
  if (end == std::string::npos)
    return head_.size() > kLongestAnswerHead ? lose() : AnswerRun{bytes.size(), Kind::content};
  head_.resize(end);
  state_ = after_head();
  head_.clear();
  return state_ == State::lost ? lose() : AnswerRun{end - read, Kind::content};
}

AnswerFrames::State AnswerFrames::after_head() const {
  const AnswerHead head = read_answer_head(head_);
  if (head.is_interim) return State::head;
  if (head.is_switch) return head.to_websocket ? State::websocket : State::lost;
  if (head.body == AnswerHead::Body::unknown) return State::lost;
  return head.body == AnswerHead::Body::chunked ? State::size : State::rest;
}

AnswerRun AnswerFrames::read_line(char next) {
  switch (state_) {
    case State::size:
      return read_size(next);
    case State::extension:
      if (next == '\r') return expect('\r', next, State::size_end);
      if (next == '\n' || ++dropped_ > kMostDropped) return lose();
      return {1, Kind::dropped};
    case State::size_end: {
      const State then = left_ > 0 ? State::data : State::rest;
      digits_ = 0;
      zero_ = false;
      dropped_ = 0;
      return expect('\n', next, then);
    }
    case State::data_cr:
      return expect('\r', next, State::data_lf);
    default:
      return expect('\n', next, State::size);
  }
}

AnswerRun AnswerFrames::read_size(char next) {
  const size_t digit = hex_value(next);
  if (digit == std::string_view::npos) {
    const bool ends = next == ';' || next == ' ' || next == '\t';
    if ((digits_ == 0 && !zero_) || (!ends && next != '\r')) return lose();
    if (next == '\r') return expect('\r', next, State::size_end);
    state_ = State::extension;
    return {1, Kind::dropped};
  }
  if (digits_ == 0) left_ = 0;
  if (digits_ == 0 && digit == 0) {
    // Without it the size would be none if no other digit follows.
    const Kind kind = zero_ ? Kind::dropped : Kind::framing;
    zero_ = true;
    return ++dropped_ > kMostDropped ? lose() : AnswerRun{1, kind};
  }
  if (++digits_ > kMostDigits) return lose();
  left_ = left_ * 16 + digit;
  return {1, Kind::framing};
}

AnswerRun AnswerFrames::expect(char wanted, char next, State then) {
  if (next != wanted) return lose();
  state_ = then;
  return {1, Kind::framing};
}

AnswerRun AnswerFrames::lose() {
  state_ = State::lost;
  return {0, Kind::lost};
}

}  // namespace sandgate::egress
