#include "local/egress/answer_decoder.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "local/egress/coded_head.hpp"
#include "local/egress/response_head.hpp"

namespace sandgate::egress {
namespace {

constexpr std::string_view kMalformed = "malformed_answer", kEncoded = "encoded_answer";

std::string chunk(std::string_view content) {
  std::array<char, 16> size{};
  const char* const end =
      std::to_chars(size.data(), size.data() + size.size(), content.size(), 16).ptr;
  std::string text(std::string_view(size.data(), end));
  return text.append("\r\n").append(content).append("\r\n");
}

bool has_no_content(const ResponseHead& head) {
  return head.status == "204" || head.status == "304";
}

}  // namespace

AnswerDecoder::AnswerDecoder(Request request) : state_(State::head), request_(request) {}

void AnswerDecoder::take(std::string_view bytes) { input_ += bytes; }

std::string AnswerDecoder::next() {
  if (!wrong_.empty()) return {};
  if (state_ == State::head) return read_head();
  if (state_ == State::decoding) return decode();
  std::string bytes = std::exchange(input_, {});
  return state_ == State::passing ? bytes : std::string();
}

std::string AnswerDecoder::end() {
  if (!wrong_.empty() || state_ == State::over) return {};
  if (state_ != State::decoding) return std::exchange(input_, {});
  // The number of bytes was known, or that there is a last chunk.
  return left_ || chunked_ ? fail(kMalformed) : finish();
}

std::string AnswerDecoder::read_head() {
  const size_t end = end_of_response_head(input_, read_);
  read_ = input_.size();
  if (std::min(end, input_.size()) > kMaxResponseHead) return fail(kMalformed);
  if (end == input_.npos) return {};
  const std::string head = input_.substr(0, end);
  const ResponseHead parsed = parse_response_head(head);
  read_ = 0;
  if (parsed.is_interim) {
    input_.erase(0, end);
    return head;
  }
  const ContentCoding coding = content_coding(head);
  if (parsed.is_switch || coding == ContentCoding::none) {
    state_ = State::passing;
    return std::exchange(input_, {});
  }
  if (request_.is_head || has_no_content(parsed)) {
    state_ = State::over;
    return head;
  }
  // A part of coded content cannot be decoded.
  if (coding == ContentCoding::unknown || parsed.status == "206") return fail(kEncoded);
  begin_decoding(head, coding);
  read_ = end;
  return wrong_.empty() ? decode() : "";
}

void AnswerDecoder::begin_decoding(std::string_view head, ContentCoding coding) {
  const ContentLength length = content_length(head);
  chunked_ = parse_response_head(head).body != ResponseHead::Body::plain;
  const bool is_lost = frames_.next(head).kind == ResponseSpan::Kind::lost;
  if (is_lost || (!chunked_ && length.is_wrong)) {
    fail(kMalformed);
    return;
  }
  if (!chunked_) left_ = length.bytes;
  state_ = State::decoding;
  head_ = decoded_head(head, request_.knows_chunks);
  inflater_ = std::make_unique<Inflater>(coding);
}

std::string AnswerDecoder::decode() {
  for (;;) {
    const std::optional<std::string> piece = inflater_->next(coded_);
    if (!piece) return fail(kEncoded);
    if (!piece->empty()) return framed(*piece);
    if (content_ended()) return finish();
    if (!take_content()) break;
  }
  input_.clear();
  read_ = 0;
  return {};
}

bool AnswerDecoder::take_content() {
  const std::string_view bytes = std::string_view(input_).substr(read_);
  if (bytes.empty()) return false;
  const ResponseSpan span = frames_.next(bytes);
  if (span.kind == ResponseSpan::Kind::lost) {
    fail(kMalformed);
    return false;
  }
  read_ += span.bytes;
  if (span.kind != ResponseSpan::Kind::content) return true;
  coded_ = bytes.substr(0, std::min<uint64_t>(span.bytes, left_.value_or(span.bytes)));
  if (left_) *left_ -= coded_.size();
  return true;
}

bool AnswerDecoder::content_ended() const { return frames_.is_behind_chunks() || left_ == 0U; }

std::string AnswerDecoder::framed(std::string_view piece) {
  std::string text = std::exchange(head_, {});
  return request_.knows_chunks ? text + chunk(piece) : text.append(piece);
}

std::string AnswerDecoder::finish() {
  if (!inflater_->is_whole()) return fail(kEncoded);
  state_ = State::over;
  return std::exchange(head_, {}) + (request_.knows_chunks ? "0\r\n\r\n" : "");
}

std::string AnswerDecoder::fail(std::string_view wrong) {
  wrong_ = wrong;
  return {};
}

}  // namespace sandgate::egress
