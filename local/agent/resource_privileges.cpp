#include "local/agent/resource_privileges.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <string_view>

#include "local/agent/files/file.hpp"

namespace sandgate::agent {
namespace {

// Counts as if the process used another 50% of the available memory.
constexpr std::string_view kOomScore = "500";

rlimit ordinary_descriptors{};

}  // namespace

void raise_own_limits() {
  if (::getrlimit(RLIMIT_NOFILE, &ordinary_descriptors) != 0) return;
  const rlimit all{ordinary_descriptors.rlim_max, ordinary_descriptors.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &all);
}

void reset_child_limits() {
  ::setpriority(PRIO_PROCESS, 0, 0);
  if (ordinary_descriptors.rlim_max != 0) ::setrlimit(RLIMIT_NOFILE, &ordinary_descriptors);
}

// The file is owned by the process's user only while the process is dumpable; the agent is not.
void raise_oom_score() {
  const int dumpable = ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
  ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  const Fd score(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  (void)!::write(score.get(), kOomScore.data(), kOomScore.size());
  if (dumpable == 0) ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

}  // namespace sandgate::agent
