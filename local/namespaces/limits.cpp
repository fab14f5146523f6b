#include "local/namespaces/limits.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "local/namespaces/step_error.hpp"

namespace sandgate {
namespace {

// Never raises a hard limit, which needs a privilege.
void limit(__rlimit_resource resource, rlim_t soft, rlim_t hard, const char* step) {
  rlimit now{};
  check(getrlimit(resource, &now), step);
  rlimit wanted{std::min(soft, now.rlim_max), std::min(hard, now.rlim_max)};
  check(setrlimit(resource, &wanted), step);
}

constexpr const char* kOomScore = "/proc/self/oom_score_adj";
constexpr int kQuarter = 4;
constexpr rlim_t kMessageQueueBytes = 819200;

// These sysctls count in the caller's user namespace.
void limit_inotify(const char* what) {
  int64_t most = 0;
  std::ifstream(std::string("/proc/sys/fs/inotify/max_user_") + what) >> most;
  if (most <= 0) return;
  std::ofstream(std::string("/proc/sys/user/max_inotify_") + what)
      << std::max<int64_t>(most / kQuarter, 1);
}

}  // namespace

void apply_rlimits(uint64_t disk_bytes) {
  // With 0 the kernel still runs a piped core_pattern helper, as root outside; with 1 it does not.
  limit(RLIMIT_CORE, 1, 1, "rlimit core");
  limit(RLIMIT_FSIZE, disk_bytes, disk_bytes, "rlimit fsize");
  limit(RLIMIT_NOFILE, 1024, 65536, "rlimit nofile");
  limit(RLIMIT_MEMLOCK, 8 << 20, 8 << 20, "rlimit memlock");
  limit(RLIMIT_MSGQUEUE, kMessageQueueBytes, kMessageQueueBytes, "rlimit msgqueue");
  limit(RLIMIT_RTPRIO, 0, 0, "rlimit rtprio");
  limit(RLIMIT_NICE, 0, 0, "rlimit nice");
}

// A POSIX timer keeps a place in the queue of signals, and all that expire together send theirs
// with interrupts off. A place for each of 512 threads is enough for programs that signal all of
// theirs.
void limit_queued_signals() { limit(RLIMIT_SIGPENDING, 512, 512, "rlimit sigpending"); }

void leave_others_their_share() {
  limit_queued_signals();
  constexpr rlim_t kBytes = kMessageQueueBytes / kQuarter;
  limit(RLIMIT_MSGQUEUE, kBytes, kBytes, "rlimit msgqueue");
  limit_inotify("instances");
  limit_inotify("watches");
}

// What a privileged process writes is also the least that its descendants may set. A node may have
// been started with less than 0, as a service that is to survive, or with more.
void give_up_being_spared() {
  int score = 0;
  std::ifstream(kOomScore) >> score;
  const std::string text = std::to_string(std::max(score, 0));
  const Fd file(open(kOomScore, O_WRONLY | O_CLOEXEC));
  (void)!write(file.get(), text.data(), text.size());  // a node without privileges may not
}

}  // namespace sandgate
