#include "local/namespaces/landlock.hpp"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/syscall.h>

#include <cstdint>

#include "local/namespaces/step_error.hpp"

namespace sandgate {
namespace {

// The kernel's structure as of ABI 6; older kernels take its shorter beginnings.
struct RulesetAttributes {
  uint64_t handled_access_fs, handled_access_net, scoped;
};
constexpr size_t kSizeFsOnly = 8, kSizeWithScopes = 24;
constexpr uint64_t kScopeAbstractUnix = 1, kScopeSignal = 2;

constexpr uint64_t kDeviceNodes = LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK;

// REFER is denied unless handled and granted, so a rule must name it from ABI 2 on.
uint64_t handled_rights(int abi) {
  constexpr uint64_t kRefer = 1 << 13;
  return abi >= 2 ? kDeviceNodes | kRefer : kDeviceNodes;
}

}  // namespace

int landlock_abi() {
  long abi = syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return abi < 0 ? 0 : static_cast<int>(abi);
}

void restrict_with_landlock() {
  int abi = landlock_abi();
  if (abi == 0) return;
  RulesetAttributes attributes{handled_rights(abi), 0, 0};
  if (abi >= 6) attributes.scoped = kScopeAbstractUnix | kScopeSignal;
  Fd ruleset = check_fd(static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes,
                                                 abi >= 6 ? kSizeWithScopes : kSizeFsOnly, 0)),
                        "landlock ruleset");
  if (uint64_t granted = attributes.handled_access_fs & ~kDeviceNodes; granted != 0) {
    Fd root = check_fd(open("/", O_PATH | O_CLOEXEC | O_DIRECTORY), "landlock root");
    landlock_path_beneath_attr rule{granted, root.get()};
    check(syscall(SYS_landlock_add_rule, ruleset.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0),
          "landlock rule");
  }
  check(syscall(SYS_landlock_restrict_self, ruleset.get(), 0), "landlock restrict");
}

}  // namespace sandgate
