#include <gtest/gtest.h>

#include <algorithm>

#include "gateway/core/ids.hpp"
#include "tests/support/code_of.hpp"
#include "tests/support/live_loop.hpp"
#include "tests/vendors/vendor_lines.hpp"

namespace sandgate::test {
namespace {

struct RunloopRun {
  std::string out;
  std::optional<int> status;
};

// What a command prints while streams of output are cut in a way.
RunloopRun run_while_cut(const std::string& shell, const std::string& kind, int times) {
  LiveLoop loop;
  const auto& lines = vendor_lines();
  const auto line =
      std::find_if(lines.begin(), lines.end(), [](const auto& l) { return l.name == "runloop"; });
  Vendor vendor(*line, loop.executor());
  CreateSpec spec{.sandbox_id = SandboxId::make().value, .image = line->image};
  spec.network.fallback = NetworkDefault::allow;
  const auto box = loop.run(vendor.provider().create(std::move(spec)));
  vendor.server().fault(
      {{"match", "GET .*/stream_stdout_updates"}, {"kind", kind}, {"times", times}});
  Command command{.shell = shell, .process_id = ProcessId::make().value};
  auto stream = loop.run(vendor.provider().exec(box.backend_id, std::move(command)));
  RunloopRun run;
  while (auto event = loop.run(stream->next())) {
    if (const auto* exit = std::get_if<ProcessExit>(&*event))
      run.status = exit->exit_code;
    else
      run.out += std::get<OutputChunk>(*event).bytes;
  }
  loop.run(vendor.provider().kill(box.backend_id));
  return run;
}

TEST(Runloop, AStreamThatIsCutOffCleanlyIsTakenUpWhereItEnded) {
  const auto run =
      run_while_cut("for i in 1 2 3 4; do echo ä$i; sleep 0.2; done; exit 3", "cut", 2);
  EXPECT_EQ(run.out, "ä1\nä2\nä3\nä4\n");
  EXPECT_EQ(run.status, 3);
}

TEST(Runloop, AStreamThatBreaksIsTakenUpWhereItEnded) {
  const auto run =
      run_while_cut("for i in 1 2 3 4; do echo ä$i; sleep 0.2; done; exit 3", "broken", 2);
  EXPECT_EQ(run.out, "ä1\nä2\nä3\nä4\n");
  EXPECT_EQ(run.status, 3);
}

TEST(Runloop, WhatWasPrintedBetweenACutAndTheEndIsNotLost) {
  const auto run = run_while_cut("echo one; sleep 0.3; echo two; exit 3", "cut_at_end", 1);
  EXPECT_EQ(run.out, "one\ntwo\n");
  EXPECT_EQ(run.status, 3);
}

// The vendor refuses what it cannot run as it refuses a wrong request.
TEST(Runloop, FilesOfWhatDoesNotRunAreNotRefusedAsAMistakeOfTheCaller) {
  LiveLoop loop;
  const auto& lines = vendor_lines();
  const auto line = std::ranges::find(lines, "runloop", &VendorLine::name);
  Vendor vendor(*line, loop.executor());
  CreateSpec spec{.sandbox_id = SandboxId::make().value, .image = line->image};
  spec.network.fallback = NetworkDefault::allow;
  const auto box = loop.run(vendor.provider().create(std::move(spec)));
  const auto looked = [&] {
    return code_of([&] { loop.run(vendor.provider().stat(box.backend_id, "/")); });
  };
  EXPECT_FALSE(looked());
  loop.run(vendor.provider().pause(box.backend_id, Keeps::disk));
  EXPECT_EQ(looked(), ErrorCode::conflict);
  loop.run(vendor.provider().kill(box.backend_id));
  EXPECT_EQ(looked(), ErrorCode::not_found);
}

}  // namespace
}  // namespace sandgate::test
