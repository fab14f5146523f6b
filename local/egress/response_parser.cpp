#include "local/egress/response_parser.hpp"

#include <algorithm>

#include "gateway/core/field_text.hpp"

namespace sandgate::egress {
namespace {

using Kind = ResponseSpan::Kind;

constexpr int kMaxDigits = 15;
constexpr size_t kMaxDropped = 4096;
constexpr std::string_view kHexDigits = "0123456789abcdef";

size_t hex_value(char c) { return kHexDigits.find(ascii_lower(c)); }

}  // namespace

ResponseSpan ResponseParser::next(std::string_view bytes) {
  switch (state_) {
    case State::head:
      return read_head(bytes);
    case State::data: {
      const auto count = static_cast<size_t>(std::min<uint64_t>(left_, bytes.size()));
      left_ -= count;
      if (left_ == 0) state_ = State::data_cr;
      return {count, Kind::content};
    }
    case State::trailers:
      return read_trailers(bytes);
    case State::rest:
      return {bytes.size(), Kind::content};
    case State::websocket: {
      const ResponseSpan run = websocket_.next(bytes);
      return run.kind == Kind::lost ? fail() : run;
    }
    case State::lost:
      return fail();
    default:
      return read_line(bytes[0]);
  }
}

ResponseSpan ResponseParser::read_head(std::string_view bytes) {
  const size_t read = head_.size();
  head_ += bytes;
  const size_t end = end_of_response_head(head_, read);
  head_.resize(std::min(end, head_.size()));
  if (has_folded_line(head_, read) || head_.size() > kMaxResponseHead) return fail();
  if (end == std::string::npos) return {bytes.size(), Kind::content};
  state_ = after_head();
  head_.clear();
  return state_ == State::lost ? fail() : ResponseSpan{end - read, Kind::content};
}

ResponseSpan ResponseParser::read_trailers(std::string_view bytes) {
  const size_t read = head_.size();
  head_ += bytes;
  if (has_folded_line(head_, read)) return fail();
  head_.erase(0, head_.size() - 1);
  return {bytes.size(), Kind::content};
}

ResponseParser::State ResponseParser::after_head() const {
  const ResponseHead head = parse_response_head(head_);
  if (head.is_interim) return State::head;
  if (head.is_switch) return head.to_websocket ? State::websocket : State::lost;
  if (head.body == ResponseHead::Body::unknown) return State::lost;
  return head.body == ResponseHead::Body::chunked ? State::size : State::rest;
}

ResponseSpan ResponseParser::read_line(char next) {
  switch (state_) {
    case State::size:
      return read_size(next);
    case State::extension:
      if (next == '\r') return expect('\r', next, State::size_end);
      if (next == '\n' || ++dropped_ > kMaxDropped) return fail();
      return {1, Kind::dropped};
    case State::size_end: {
      const State then = left_ > 0 ? State::data : State::trailers;
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

ResponseSpan ResponseParser::read_size(char next) {
  const size_t digit = hex_value(next);
  if (digit == std::string_view::npos) {
    const bool ends = next == ';' || next == ' ' || next == '\t';
    if ((digits_ == 0 && !zero_) || (!ends && next != '\r')) return fail();
    if (next == '\r') return expect('\r', next, State::size_end);
    state_ = State::extension;
    return {1, Kind::dropped};
  }
  if (digits_ == 0) left_ = 0;
  if (digits_ == 0 && digit == 0) {
    // Without it the size would be none if no other digit follows.
    const Kind kind = zero_ ? Kind::dropped : Kind::framing;
    zero_ = true;
    return ++dropped_ > kMaxDropped ? fail() : ResponseSpan{1, kind};
  }
  if (++digits_ > kMaxDigits) return fail();
  left_ = left_ * 16 + digit;
  return {1, Kind::framing};
}

ResponseSpan ResponseParser::expect(char wanted, char next, State then) {
  if (next != wanted) return fail();
  state_ = then;
  return {1, Kind::framing};
}

ResponseSpan ResponseParser::fail() {
  state_ = State::lost;
  return {0, Kind::lost};
}

}  // namespace sandgate::egress
