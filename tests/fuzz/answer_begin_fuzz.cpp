#include "local/egress/answer_begin.hpp"

#include <cstdint>
#include <cstdlib>

#include "local/egress/response_head.hpp"
#include "tests/fuzz/cut_input.hpp"

namespace sandgate::egress {
namespace {

struct Passed {
  std::string text;
  bool is_wrong = false, switches = false;
};

Passed passed(std::string_view bytes, size_t piece, bool asks_for_websocket) {
  AnswerBegin begin(asks_for_websocket);
  Passed result;
  for (size_t at = 0; at < bytes.size() && begin.wrong().empty(); at += piece)
    result.text += begin.take(bytes.substr(at, piece));
  result.is_wrong = !begin.wrong().empty();
  if (!result.is_wrong) result.text += begin.rest();
  result.switches = begin.switches();
  return result;
}

// Whether a client takes the answer for a switch, after which nothing is inspected.
bool shows_a_switch(std::string_view text) {
  while (text.starts_with("HTTP/1.")) {
    const size_t end = end_of_response_head(text, 0);
    if (end == text.npos) return false;
    const ResponseHead head = parse_response_head(text.substr(0, end));
    if (!head.is_interim) return head.is_switch;
    text.remove_prefix(end);
  }
  return false;
}

}  // namespace
}  // namespace sandgate::egress

// What a host answers, as any bytes. The size of its pieces says also whether a WebSocket was asked
// for.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sandgate::egress;
  if (size < 1) return 0;
  const auto [bytes, piece] = sandgate::CutInput(data, size);
  const bool asks = piece % 2 == 1;
  const Passed whole = passed(bytes, bytes.size() + 1, asks), pieces = passed(bytes, piece, asks);
  // How the network cuts an answer changes nothing.
  if (whole.is_wrong != pieces.is_wrong || whole.switches != pieces.switches) std::abort();
  if (!whole.is_wrong && whole.text != pieces.text) std::abort();
  for (const Passed& one : {whole, pieces})
    if (shows_a_switch(one.text) != one.switches) std::abort();
  if (whole.switches && !asks) std::abort();
  return 0;
}
