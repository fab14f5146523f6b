#include "local/namespaces/capabilities.hpp"

#include <linux/capability.h>
#include <linux/keyctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstdint>

#include "local/namespaces/step_error.hpp"

namespace sandgate {
namespace {

constexpr uint64_t bit(int capability) { return uint64_t{1} << capability; }

constexpr uint64_t kKept = bit(CAP_CHOWN) | bit(CAP_DAC_OVERRIDE) | bit(CAP_FOWNER) |
                           bit(CAP_FSETID) | bit(CAP_SETUID) | bit(CAP_SETGID) | bit(CAP_KILL) |
                           bit(CAP_NET_BIND_SERVICE) | bit(CAP_SETPCAP);

struct CapabilitySets {
  uint64_t effective = 0, permitted = 0, inheritable = 0;
  bool operator==(const CapabilitySets&) const = default;
};

void write_sets(const CapabilitySets& sets) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {
      {static_cast<uint32_t>(sets.effective), static_cast<uint32_t>(sets.permitted),
       static_cast<uint32_t>(sets.inheritable)},
      {static_cast<uint32_t>(sets.effective >> 32), static_cast<uint32_t>(sets.permitted >> 32),
       static_cast<uint32_t>(sets.inheritable >> 32)}};
  check(syscall(SYS_capset, &header, data), "capset");
}

CapabilitySets read_sets() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  check(syscall(SYS_capget, &header, data), "capget");
  auto join = [](uint32_t low, uint32_t high) { return low | (uint64_t{high} << 32); };
  return {join(data[0].effective, data[1].effective), join(data[0].permitted, data[1].permitted),
          join(data[0].inheritable, data[1].inheritable)};
}

void drop_bounding_set() {
  for (int capability = 0;; ++capability) {
    int present = prctl(PR_CAPBSET_READ, capability, 0, 0, 0);
    if (present < 0) return;  // beyond the kernel's last capability
    if (present == 1 && (kKept & bit(capability)) == 0) {
      check(prctl(PR_CAPBSET_DROP, capability, 0, 0, 0), "drop bounding set");
    }
  }
}

}  // namespace

void drop_capabilities() {
  drop_bounding_set();
  check(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0), "clear ambient set");
  CapabilitySets wanted{kKept, kKept, 0};
  write_sets(wanted);
  if (read_sets() != wanted) throw StepError("verify capabilities", EPERM);
}

void join_own_keyring() {
  check(syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr), "session keyring");
}

void forbid_new_privileges() { check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs"); }

void set_dumpable(bool dumpable) {
  check(prctl(PR_SET_DUMPABLE, dumpable ? 1 : 0, 0, 0, 0), "dumpable");
}

}  // namespace sandgate
