#pragma once
#include <seccomp.h>

#include <cstdint>
#include <initializer_list>

#include "gateway/core/fd.hpp"

namespace sandgate {

// A seccomp filter in the making. Each member throws StepError when libseccomp refuses.
class SeccompFilter {
 public:
  // 32-bit arguments arrive in 64-bit registers whose upper half the caller controls and the kernel
  // ignores, so comparisons use the lower half only.
  static constexpr uint64_t kLow = 0xffffffff;

  explicit SeccompFilter(uint32_t default_action);
  SeccompFilter(const SeccompFilter&) = delete;
  ~SeccompFilter() { seccomp_release(context_); }

  // A call whose arguments pass all comparisons gets `action`. Does nothing for a call that this
  // architecture or libseccomp does not know.
  void add(uint32_t action, int number, std::initializer_list<scmp_arg_cmp> comparisons = {});
  void add(uint32_t action, const char* name, std::initializer_list<scmp_arg_cmp> comparisons = {});

  // A sealed memfd of struct sock_filter.
  Fd program(const char* name) const;

 private:
  void set(scmp_filter_attr attribute, uint32_t value);

  scmp_filter_ctx context_;
};

}  // namespace sandgate
