#include "local/namespaces/freezer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <string_view>
#include <thread>

#include "local/namespaces/cgroup.hpp"
#include "local/namespaces/step_error.hpp"

namespace sandgate {
namespace {

constexpr const char* kStateV1 = "freezer.state";
constexpr const char* kSwitchV2 = "cgroup.freeze";
constexpr std::string_view kGoOnV1 = "THAWED", kGoOnV2 = "0";

struct Freezer {
  std::string directory;
  bool v2 = false;

  bool exists() const { return !directory.empty(); }
  std::string path() const { return directory + "/" + (v2 ? kSwitchV2 : kStateV1); }
  void stop() const {
    write_cgroup_file(directory, v2 ? kSwitchV2 : kStateV1, v2 ? "1" : "FROZEN");
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
    OpenFreezer(directories).thaw();
  } catch (const StepError&) {
    // no descriptor is to be had: the caller asks again, or the group is removed later
  }
}

OpenFreezer::OpenFreezer(const std::vector<std::string>& directories) {
  const Freezer freezer = freezer_of(directories);
  if (!freezer.exists()) return;
  v2_ = freezer.v2;
  switch_.reset(open(freezer.path().c_str(), O_WRONLY | O_CLOEXEC));
  const bool gone = errno == ENOENT || errno == ENODEV;  // removed meanwhile
  if (!switch_ && !gone) throw StepError("open the freezer", errno);
}

void OpenFreezer::thaw() const noexcept {
  const std::string_view word = v2_ ? kGoOnV2 : kGoOnV1;
  // Fails only for a group that was removed meanwhile.
  if (switch_ && write(switch_.get(), word.data(), word.size()) < 0) return;
}

}  // namespace sandgate
