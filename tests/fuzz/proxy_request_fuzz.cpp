#include <cstdint>
#include <cstdlib>

#include "local/egress/http_head.hpp"
#include "tests/fuzz/cut_input.hpp"

namespace sandgate::egress {
namespace {

// A body's end does not depend on how the network cuts it.
void follow_body(std::string_view bytes, size_t piece) {
  ChunkedBody whole, pieces;
  const size_t end = whole.take(bytes);
  size_t used = 0;
  while (used < bytes.size() && !pieces.done() && !pieces.bad())
    used += pieces.take(bytes.substr(used, piece));
  if (used != end || whole.done() != pieces.done() || whole.bad() != pieces.bad()) std::abort();
}

}  // namespace
}  // namespace sandgate::egress

// What a sandbox says to its proxy, as any bytes.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sandgate::egress;
  if (size < 1) return 0;
  const auto [bytes, piece] = sandgate::CutInput(data, size);
  (void)looks_like_http(bytes);
  const HeadResult result = parse_request_head(bytes);
  if (result.state == HeadState::complete) {
    if (result.bytes > bytes.size() || !bytes.substr(0, result.bytes).ends_with("\r\n\r\n"))
      std::abort();
    follow_body(bytes.substr(result.bytes), piece);
  }
  follow_body(bytes, piece);
  return 0;
}
