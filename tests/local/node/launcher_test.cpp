#include "local/namespaces/launcher.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <chrono>

#include "local/namespaces/step_error.hpp"
#include "tests/local/local_node.hpp"
#include "tests/support/run.hpp"

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

// What every launch needs; `other` stands for descriptors that its first steps do not look at.
Launcher::Inputs some_inputs(const Fd& image, const Fd& other) {
  Launcher::Inputs inputs;
  inputs.spec.id_base = 700'000'000;
  inputs.image = image.get();
  inputs.listener = inputs.filter_calls = inputs.filter_arguments = other.get();
  return inputs;
}

TEST(Launcher, EndsAFirstProcessWhoseDescriptorFindsNoRoom) {
  if (std::string reason = LocalNode::reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  const TempDirectory directory;
  const Fd image(open(directory.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const Fd other(memfd_create("other", MFD_CLOEXEC));
  rlimit usual{};
  EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &usual), 0);
  {
    const Launcher launcher(LocalNode().agent_binary());
    Launcher::Inputs inputs = some_inputs(image, other);
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

TEST(Launcher, FailsAtOnceIfControlGroupsCannotBeHandedOver) {
  if (std::string reason = LocalNode::reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  const TempDirectory directory;
  const Fd image(open(directory.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const Fd other(memfd_create("other", MFD_CLOEXEC));
  {
    const Launcher launcher(LocalNode().agent_binary());
    Launcher::Inputs inputs = some_inputs(image, other);
    inputs.spec.cgroup_version = 2;
    inputs.make_cgroups = [] {
      std::vector<Fd> closed;
      closed.emplace_back();
      return closed;
    };
    const auto before = std::chrono::steady_clock::now();
    try {
      launcher.launch(std::move(inputs));
      ADD_FAILURE() << "it was launched";
    } catch (const StepError& failure) {
      EXPECT_EQ(failure.number, EBADF) << failure.what();
    }
    EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(5));
  }
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
}

}  // namespace
}  // namespace sandgate::test
