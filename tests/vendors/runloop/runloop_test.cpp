#include <gtest/gtest.h>

#include "gateway/core/ids.hpp"
#include "tests/support/live_loop.hpp"
#include "tests/vendors/vendor_lines.hpp"

namespace sandgate::test {
namespace {

TEST(Runloop, AStreamThatIsCutOffCleanlyIsTakenUpWhereItEnded) {
  LiveLoop loop;
  const auto& lines = vendor_lines();
  const auto line =
      std::find_if(lines.begin(), lines.end(), [](const auto& l) { return l.name == "runloop"; });
  ASSERT_NE(line, lines.end());
  Vendor vendor(*line, loop.executor());
  CreateSpec spec{.sandbox_id = SandboxId::make().value, .image = line->image};
  spec.network.fallback = NetworkDefault::allow;
  const auto box = loop.run(vendor.provider().create(std::move(spec)));
  vendor.server().fault({{"match", "GET .*/stream_stdout_updates"}, {"kind", "cut"}, {"times", 2}});
  Command command{.shell = "for i in 1 2 3 4; do echo ä$i; sleep 0.2; done; exit 3",
                  .process_id = ProcessId::make().value};
  auto stream = loop.run(vendor.provider().exec(box.backend_id, std::move(command)));
  std::string out;
  std::optional<int> status;
  while (auto event = loop.run(stream->next())) {
    if (const auto* exit = std::get_if<ProcessExit>(&*event))
      status = exit->exit_code;
    else
      out += std::get<OutputChunk>(*event).bytes;
  }
  EXPECT_EQ(out, "ä1\nä2\nä3\nä4\n");
  EXPECT_EQ(status, 3);
  loop.run(vendor.provider().kill(box.backend_id));
}

}  // namespace
}  // namespace sandgate::test
