#include "local/namespaces/seccomp_filter.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>

#include "local/namespaces/step_error.hpp"

namespace sandgate {

SeccompFilter::SeccompFilter(uint32_t default_action) : context_(seccomp_init(default_action)) {
  if (context_ == nullptr) throw StepError("seccomp init", ENOMEM);
  set(SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
  set(SCMP_FLTATR_CTL_NNP, 0);
  set(SCMP_FLTATR_CTL_OPTIMIZE, 2);
}

void SeccompFilter::add(uint32_t action, int number,
                        std::initializer_list<scmp_arg_cmp> comparisons) {
  if (number == __NR_SCMP_ERROR) return;
  int result =
      seccomp_rule_add_array(context_, action, number, comparisons.size(), comparisons.begin());
  if (result != 0 && result != -EDOM) throw StepError("seccomp rule", -result);
}

void SeccompFilter::add(uint32_t action, const char* name,
                        std::initializer_list<scmp_arg_cmp> comparisons) {
  add(action, seccomp_syscall_resolve_name(name), comparisons);
}

Fd SeccompFilter::program(const char* name) const {
  Fd file = check_fd(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING), "seccomp memfd");
  if (int result = seccomp_export_bpf(context_, file.get()); result != 0) {
    throw StepError("seccomp export", -result);
  }
  check(fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL),
        "seccomp seal");
  return file;
}

void SeccompFilter::set(scmp_filter_attr attribute, uint32_t value) {
  if (int result = seccomp_attr_set(context_, attribute, value); result != 0) {
    throw StepError("seccomp attribute", -result);
  }
}

}  // namespace sandgate
