#include "local/namespaces/freezer.hpp"

#include <unistd.h>

#include <thread>

#include "local/namespaces/cgroup.hpp"
#include "local/namespaces/step_error.hpp"

namespace sandgate {
namespace {

constexpr const char* kStateV1 = "freezer.state";
constexpr const char* kSwitchV2 = "cgroup.freeze";

struct Freezer {
  std::string directory;
  bool v2 = false;

  bool exists() const { return !directory.empty(); }
  void stop() const {
    write_cgroup_file(directory, v2 ? kSwitchV2 : kStateV1, v2 ? "1" : "FROZEN");
  }
  void go_on() const {
    write_cgroup_file(directory, v2 ? kSwitchV2 : kStateV1, v2 ? "0" : "THAWED");
  }
  bool stands_still() const {
    return v2 ? stat_value(read_cgroup_file(directory, "cgroup.events"), "frozen") == 1
              : read_cgroup_file(directory, kStateV1) == "FROZEN\n";
  }
};

Freezer freezer_of(const std::vector<std::string>& directories) {
  for (const std::string& directory : directories) {
    if (access((directory + "/" + kStateV1).c_str(), W_OK) == 0) return {directory, false};
    if (access((directory + "/" + kSwitchV2).c_str(), W_OK) == 0) return {directory, true};
  }
  return {};
}

}  // namespace

bool freeze(const std::vector<std::string>& directories, std::chrono::milliseconds timeout) {
  using namespace std::chrono_literals;
  const Freezer freezer = freezer_of(directories);
  if (!freezer.exists()) throw StepError("find the freezer", ENOTSUP);
  const auto limit = std::chrono::steady_clock::now() + timeout;
  freezer.stop();
  for (auto pause = 50us; !freezer.stands_still();
       pause = std::min<std::chrono::microseconds>(pause * 2, 2ms)) {
    if (std::chrono::steady_clock::now() >= limit) return false;
    std::this_thread::sleep_for(pause);
  }
  return true;
}

void thaw(const std::vector<std::string>& directories) noexcept {
  try {
    const Freezer freezer = freezer_of(directories);
    if (freezer.exists()) freezer.go_on();
  } catch (const StepError&) {
    // the group was removed meanwhile
  }
}

}  // namespace sandgate
