#include <cstdint>
#include <cstdlib>

#include "local/egress/client_hello.hpp"

// A first flight as any bytes. What is complete stays the same when more bytes follow.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sandgate::egress;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const HelloResult result = parse_client_hello(bytes);
  if (result.hello.server_name && result.hello.server_name->empty()) std::abort();
  if (result.state != HelloState::complete) return 0;
  const HelloResult again = parse_client_hello(bytes + "more");
  if (again.state != HelloState::complete || again.hello.server_name != result.hello.server_name)
    std::abort();
  return 0;
}
