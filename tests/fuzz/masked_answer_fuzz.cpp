#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "local/egress/redactor.hpp"
#include "tests/fuzz/cut_input.hpp"

namespace sandgate::egress {
namespace {

// No text of framing.
constexpr std::string_view kValue = "k%y!";

struct Masked {
  std::string text;
  bool lost = false;
};

// Where the frames of a WebSocket begin; npos where none do.
size_t begin_of_frames(std::string_view text) {
  size_t begin = 0;
  for (ResponseHead head{.is_interim = true}; head.is_interim && !head.is_switch;) {
    const std::string_view rest = text.substr(begin);
    const size_t end = end_of_response_head(rest, 0);
    if (end == rest.npos) return text.npos;
    head = parse_response_head(rest.substr(0, end));
    begin += end;
    if (head.to_websocket) return begin;
  }
  return text.npos;
}

// As a client reads them, which takes control frames out of the message that they interrupt. Raw,
// the length of a frame may look like the value.
bool frames_show_the_value(std::string_view frames) {
  std::string message;
  while (frames.size() >= 2) {
    const auto first = static_cast<uint8_t>(frames[0]);
    const auto length = static_cast<uint8_t>(frames[1] & 0x7f);
    const size_t head = length < 126 ? 2 : length == 126 ? 4 : 10;
    uint64_t size = head == 2 ? length : 0;
    for (const char byte : frames.substr(2, head - 2))
      size = size << 8 | static_cast<uint8_t>(byte);
    frames.remove_prefix(std::min(head, frames.size()));
    const std::string_view content = frames.substr(0, size);
    frames.remove_prefix(content.size());
    const bool is_control = first & 0x08;
    if (!is_control) message += content;
    if ((is_control ? content : message).find(kValue) != content.npos) return true;
    if (!is_control && (first & 0x80)) message.clear();
  }
  return false;
}

bool shows_the_value(std::string_view text) {
  const size_t frames = std::min(begin_of_frames(text), text.size());
  return text.substr(0, frames).find(kValue) != text.npos ||
         frames_show_the_value(text.substr(frames));
}

Masked masked(std::string_view bytes, size_t piece) {
  Redactor redactor({std::make_shared<const Needle>(Secret(std::string(kValue)))});
  Masked result;
  for (size_t at = 0; at < bytes.size() && !redactor.has_failed(); at += piece)
    result.text += redactor.redact(bytes.substr(at, piece));
  if (!redactor.has_failed()) result.text += redactor.flush();
  result.lost = redactor.has_failed();
  return result;
}

}  // namespace
}  // namespace sandgate::egress

// What a host answers to a request that had a secret, as any bytes.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sandgate::egress;
  if (size < 1) return 0;
  const auto [bytes, piece] = sandgate::CutInput(data, size);
  const Masked whole = masked(bytes, bytes.size() + 1), pieces = masked(bytes, piece);
  // How the network cuts an answer changes nothing, and nothing is added.
  if (!whole.lost && !pieces.lost && whole.text != pieces.text) std::abort();
  if (whole.text.size() > bytes.size() || pieces.text.size() > bytes.size()) std::abort();
  if (shows_the_value(whole.text) || shows_the_value(pieces.text)) std::abort();
  return 0;
}
