#include <gtest/gtest.h>

#include "gateway/core/ids.hpp"
#include "tests/support/live_loop.hpp"
#include "tests/vendors/vendor_lines.hpp"

// Vendors that do not tell the exit status with the output are asked for it once that has ended.
namespace sandgate::test {
namespace {

// The exit status of a command, and what it printed, if the first questions for the status fail.
std::pair<int, std::string> run_while_status_fails(const std::string& vendor_name,
                                                   const std::string& question) {
  LiveLoop loop;
  const auto& lines = vendor_lines();
  const auto line = std::find_if(lines.begin(), lines.end(),
                                 [&](const auto& one) { return one.name == vendor_name; });
  Vendor vendor(*line, loop.executor());
  CreateSpec spec{.sandbox_id = SandboxId::make().value, .image = line->image};
  spec.network.fallback = NetworkDefault::allow;
  const std::string id = loop.run(vendor.provider().create(std::move(spec))).backend_id;
  vendor.server().fault({{"match", question}, {"kind", "status"}, {"status", 503}, {"times", 2}});
  Command command{.shell = "echo done; exit 3",
                  .keep_on_disconnect = true,
                  .process_id = ProcessId::make().value};
  const auto stream = loop.run(vendor.provider().exec(id, std::move(command)));
  std::pair<int, std::string> result{-1, ""};
  while (const auto event = loop.run(stream->next())) {
    if (const auto* exit = std::get_if<ProcessExit>(&*event))
      result.first = exit->exit_code;
    else
      result.second += std::get<OutputChunk>(*event).bytes;
  }
  loop.run(vendor.provider().kill(id));
  return result;
}

TEST(ExitStatuses, AQuestionThatFailsIsRepeated) {
  const std::pair<int, std::string> expected{3, "done\n"};
  EXPECT_EQ(run_while_status_fails("daytona", "GET .*/command/[^/]+$"), expected);
  EXPECT_EQ(run_while_status_fails("modal", "POST .*/TaskExecWait$"), expected);
  EXPECT_EQ(run_while_status_fails("runloop", "GET .*/executions/[^/]+$"), expected);
  EXPECT_EQ(run_while_status_fails("vercel", "GET .*/cmd/[^/]+$"), expected);
}

}  // namespace
}  // namespace sandgate::test
