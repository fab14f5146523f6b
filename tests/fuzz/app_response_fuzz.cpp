#include <array>
#include <cstdint>
#include <string>

#include "gateway/ports/app_response.hpp"

// Bytes as a program in a sandbox may answer them, in pieces as the relay may come to read them.
namespace sandgate::ports {
namespace {

void read_answer(std::string_view bytes, size_t piece, bool to_head) {
  AppResponse answer(to_head);
  std::string pending;
  std::array<char, 64> body;
  while (!bytes.empty() && !(answer.head_done() && answer.is_done())) {
    pending.append(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    if (!answer.head_done()) pending.erase(0, answer.parse_head(pending));
    // The relay itself passes on what is no chunk.
    const bool chunks = answer.head_done() && answer.has_body() && answer.chunked();
    while (chunks && !answer.is_done() && !pending.empty()) {
      const size_t used = answer.parse_body(pending, body);
      pending.erase(0, used);
      if (answer.body_bytes() == 0) break;
    }
  }
}

}  // namespace
}  // namespace sandgate::ports

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    sandgate::ports::read_answer(bytes, size_t{data[0] & 0x7fU} + 1, data[0] >= 0x80);
  } catch (const sandgate::Error&) {
    // Refusing is what it is for.
  }
  return 0;
}
