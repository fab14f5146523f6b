#include <cstdint>
#include <cstdlib>

#include "local/egress/redactor.hpp"

namespace sandgate::egress {
namespace {

// No text of framing.
constexpr std::string_view kValue = "k%y!";

struct Masked {
  std::string text;
  bool lost = false;
};

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
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Masked whole = masked(bytes, bytes.size() + 1), pieces = masked(bytes, size_t{data[0]} + 1);
  // How the network cuts an answer changes nothing, and nothing is added.
  if (!whole.lost && !pieces.lost && whole.text != pieces.text) std::abort();
  if (whole.text.size() > bytes.size() || pieces.text.size() > bytes.size()) std::abort();
  // The payload of a WebSocket's ping is no content.
  const bool may_switch = bytes.find(" 101") != bytes.npos;
  if (!may_switch && pieces.text.find(kValue) != pieces.text.npos) std::abort();
  return 0;
}
