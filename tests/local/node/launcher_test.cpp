#include "local/namespaces/launcher.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "local/namespaces/step_error.hpp"
#include "tests/local/local_node.hpp"

namespace sandgate::test {
namespace {

// Leaves this process no room for another descriptor; returns the limit before.
rlimit take_all_room() {
  rlimit before{};
  EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int lowest_free = Fd(open("/dev/null", O_RDONLY | O_CLOEXEC)).get();
  const rlimit full{static_cast<rlim_t>(lowest_free), before.rlim_max};
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &full), 0);
  return before;
}

TEST(Launcher, EndsAFirstProcessWhoseDescriptorFindsNoRoom) {
  if (std::string reason = LocalNode::reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  const Fd image(open("/usr", O_PATH | O_DIRECTORY | O_CLOEXEC));
  const Fd other(memfd_create("other", MFD_CLOEXEC));
  rlimit usual{};
  EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &usual), 0);
  {
    const Launcher launcher(LocalNode().agent_binary());
    Launcher::Inputs inputs;
    inputs.spec.id_base = 700'000'000;
    inputs.image = image.get();
    inputs.listener = inputs.filter_calls = inputs.filter_arguments = other.get();
    inputs.make_disk = [&] {
      Fd disk(open("/dev/null", O_RDONLY | O_CLOEXEC));
      usual = take_all_room();
      return disk;
    };
    try {
      launcher.launch(std::move(inputs));
      ADD_FAILURE() << "it was launched";
    } catch (const StepError& lack) {
      EXPECT_EQ(lack.number, EMFILE) << lack.what();
    }
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &usual), 0);
  }
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
}

}  // namespace
}  // namespace sandgate::test
