#include <gtest/gtest.h>

#include "gateway/core/ids.hpp"
#include "tests/support/live_loop.hpp"
#include "tests/vendors/vendor_lines.hpp"

namespace sandgate::test {
namespace {

// A command travels as the first line of its input: what is written by its id must not come before
// that, however slow the connection that started it is.
TEST(Sprites, InputByIdComesAfterTheCommandItself) {
  LiveLoop loop;
  std::unique_ptr<Vendor> vendor;
  for (const VendorLine& line : vendor_lines())
    if (line.name == "sprites") vendor = std::make_unique<Vendor>(line, loop.executor());
  Provider& provider = vendor->provider();
  const CreateSpec spec{.sandbox_id = SandboxId::make().value,
                        .image = "dev",
                        .network = {.fallback = NetworkDefault::allow}};
  const std::string box = loop.run(provider.create(spec)).backend_id;
  vendor->server().fault({{"match", "GET .*/exec$"}, {"kind", "slow_input"}});
  const std::string process = ProcessId::make().value;
  auto stream = loop.run(provider.exec(box, {.argv = {"cat"}, .process_id = process}));
  loop.run(provider.write_stdin(box, process, "typed"));
  loop.run(provider.close_stdin(box, process));
  std::string out;
  while (auto event = loop.run(stream->next()))
    if (const auto* chunk = std::get_if<OutputChunk>(&*event)) out += chunk->bytes;
  EXPECT_EQ(out, "typed");
  loop.run(provider.kill(box));
}

}  // namespace
}  // namespace sandgate::test
