// Any bytes, cut anywhere: the frame parser answers with frames or Error(invalid), never else.
#include <algorithm>
#include <cstdlib>

#include "gateway/core/error.hpp"
#include "local/agent/protocol.hpp"
#include "tests/fuzz/cut_input.hpp"

using namespace sandgate::agent;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  auto [bytes, piece] = sandgate::CutInput(data, size);
  FrameParser parser;
  try {
    while (!bytes.empty()) {
      const std::span<char> room = parser.prepare();
      const size_t count = bytes.copy(room.data(), std::min(room.size(), piece));
      parser.commit(count);
      bytes.remove_prefix(count);
      while (const auto next = parser.next()) {
        if (next->payload.size() > kMaxPayload) std::abort();
        if (next->type == FrameType::output) (void)parse_output(next->payload);
      }
    }
  } catch (const sandgate::Error& error) {
    if (error.code != sandgate::ErrorCode::invalid) std::abort();
  }
  return 0;
}
