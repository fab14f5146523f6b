#include "local/namespaces/landlock.hpp"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/syscall.h>

#include <cstdint>

#include "local/namespaces/step_error.hpp"

namespace sandgate {
namespace {

// landlock_ruleset_attr of ABI 6; older kernels accept a prefix of it.
struct RulesetAttributes {
  uint64_t handled_access_fs, handled_access_net, scoped;
};
constexpr size_t kSizeFsOnly = 8, kSizeWithNet = 16, kSizeWithScopes = 24;
constexpr uint64_t kScopeAbstractUnix = 1, kScopeSignal = 2;

constexpr uint64_t kBindTcp = 1;

// From ABI 7 on the kernel tells its audit log what Landlock refuses. A program may restrict itself
// and be refused tens of thousands of times a second, so nothing below this ruleset is told; nor
// what this one refuses.
uint32_t untold(int abi) {
  constexpr uint32_t kOfThisProgram = 1, kOfFurtherRulesets = 4;
  return abi >= 7 ? kOfThisProgram | kOfFurtherRulesets : 0;
}

constexpr uint64_t kDeviceNodes = LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK;

// From ABI 2 on, REFER is denied unless it is handled and a rule grants it.
uint64_t handled_rights(int abi) {
  constexpr uint64_t kRefer = 1 << 13;
  return abi >= 2 ? kDeviceNodes | kRefer : kDeviceNodes;
}

// All rights of ABI 1, then REFER, TRUNCATE and IOCTL_DEV.
uint64_t every_right(int abi) {
  uint64_t rights = (1 << 13) - 1;
  if (abi >= 2) rights |= 1 << 13;
  if (abi >= 3) rights |= 1 << 14;
  if (abi >= 5) rights |= 1 << 15;
  return rights;
}

Fd make_ruleset(const RulesetAttributes& attributes, int abi) {
  const size_t size = abi >= 6 ? kSizeWithScopes : abi >= 4 ? kSizeWithNet : kSizeFsOnly;
  return check_fd(static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, size, 0)),
                  "landlock ruleset");
}

void grant(const Fd& ruleset, uint64_t rights, const Fd& place) {
  landlock_path_beneath_attr rule{rights, place.get()};
  check(syscall(SYS_landlock_add_rule, ruleset.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0),
        "landlock rule");
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
  const Fd ruleset = make_ruleset(attributes, abi);
  if (uint64_t granted = attributes.handled_access_fs & ~kDeviceNodes; granted != 0)
    grant(ruleset, granted, check_fd(open("/", O_PATH | O_CLOEXEC | O_DIRECTORY), "landlock root"));
  check(syscall(SYS_landlock_restrict_self, ruleset.get(), untold(abi)), "landlock restrict");
}

void allow_reading_only(const std::vector<std::string>& places) {
  const int abi = landlock_abi();
  if (abi == 0) return;
  RulesetAttributes attributes{every_right(abi), 0, 0};
  if (abi >= 4) attributes.handled_access_net = kBindTcp;
  if (abi >= 6) attributes.scoped = kScopeAbstractUnix | kScopeSignal;
  const Fd ruleset = make_ruleset(attributes, abi);
  for (const std::string& path : places) {
    const Fd place(open(path.c_str(), O_PATH | O_CLOEXEC | O_DIRECTORY));
    if (place) grant(ruleset, LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR, place);
  }
  check(syscall(SYS_landlock_restrict_self, ruleset.get(), 0), "landlock restrict");
}

}  // namespace sandgate
