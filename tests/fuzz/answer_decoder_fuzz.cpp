#include "local/egress/answer_decoder.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>

#include "local/egress/coded_head.hpp"
#include "local/egress/response_head.hpp"
#include "tests/fuzz/cut_input.hpp"

namespace sandgate::egress {
namespace {

// Few bytes decode to many.
constexpr size_t kMaxPiece = 2 * kMaxResponseHead, kMaxText = 1 << 20;

struct Decoded {
  std::string text;
  std::string_view wrong;
  bool is_cut = false;  // by this test
};

Decoded decoded(std::string_view bytes, size_t piece) {
  AnswerDecoder decoder{{}};
  Decoded result;
  for (size_t at = 0; at < bytes.size() && !result.is_cut; at += piece) {
    decoder.take(bytes.substr(at, piece));
    for (std::string part = decoder.next(); !part.empty(); part = decoder.next()) {
      if (part.size() > std::max(kMaxPiece, piece)) std::abort();
      result.text += part;
      result.is_cut = result.text.size() > kMaxText;
      if (result.is_cut) break;
    }
  }
  if (!result.is_cut) result.text += decoder.end();
  result.wrong = decoder.wrong();
  return result;
}

// Whether the first head that is not interim names a coding.
bool is_coded(std::string_view text) {
  for (;;) {
    const size_t end = end_of_response_head(text, 0);
    if (end == text.npos) return false;
    const ResponseHead head = parse_response_head(text.substr(0, end));
    if (!head.is_interim)
      return !head.is_switch && content_coding(text.substr(0, end)) != ContentCoding::none;
    text.remove_prefix(end);
  }
}

// The content of an answer in chunks as they are written here; aborts at any other.
std::string content(std::string_view text) {
  std::string whole;
  for (;;) {
    size_t size = 0;
    const char* const end = text.data() + text.size();
    const auto [line, failure] = std::from_chars(text.data(), end, size, 16);
    text.remove_prefix(static_cast<size_t>(line - text.data()));
    if (failure != std::errc() || !text.starts_with("\r\n") || text.size() < size + 4) std::abort();
    whole += text.substr(2, size);
    if (text.substr(2 + size, 2) != "\r\n") std::abort();
    text.remove_prefix(size + 4);
    if (size == 0) return text.empty() ? whole : (std::abort(), whole);
  }
}

// An answer without its chunks.
std::string put_together(std::string_view text) {
  size_t begin = 0;
  while (true) {
    const size_t end = end_of_response_head(text.substr(begin), 0);
    if (end == text.npos) std::abort();
    const ResponseHead head = parse_response_head(text.substr(begin, end));
    begin += end;
    if (head.status == "204" || head.status == "304") return std::string(text);
    if (!head.is_interim) break;
  }
  return std::string(text.substr(0, begin)) + content(text.substr(begin));
}

}  // namespace
}  // namespace sandgate::egress

// What a host answers to a request that had a secret, as any bytes.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sandgate::egress;
  if (size < 1) return 0;
  const auto [bytes, piece] = sandgate::CutInput(data, size);
  const Decoded whole = decoded(bytes, bytes.size() + 1), pieces = decoded(bytes, piece);
  if (whole.is_cut || pieces.is_cut) return 0;
  // How the network cuts an answer changes nothing.
  if (whole.wrong != pieces.wrong) std::abort();
  if (!whole.wrong.empty()) return 0;
  if (!is_coded(bytes)) {
    if (whole.text != bytes || pieces.text != bytes) std::abort();
  } else if (put_together(whole.text) != put_together(pieces.text)) {
    std::abort();
  }
  return 0;
}
