#include "local/node/machine/module_requests.hpp"

#include <unistd.h>

#include <utility>

#include "gateway/core/files.hpp"
#include "gateway/core/log.hpp"
#include "local/namespaces/step_error.hpp"
#include "local/node/machine/kernel_function.hpp"

namespace sandgate {
namespace {

// What the kernel asks before it runs modprobe; BPF programs may answer in its place.
constexpr const char* kAsked = "security_kernel_module_request";

// Linux 6.14 and later ask for no module when a program has an unknown format. What else asks, the
// system call filter refuses.
bool asks_for_formats() {
  const auto version = kernel_version();
  return !version || *version < std::pair(6, 14);
}

// Null where sandboxes can make the kernel look for modules.
const char* why_not_needed() {
  const auto helper = read_text_file("/proc/sys/kernel/modprobe");
  if (!helper) return "the kernel has no modules";
  if (*helper == "\n") return "the kernel looks for none";
  return asks_for_formats() ? nullptr : "none for programs of unknown formats";
}

}  // namespace

Fd refuse_module_requests(uint32_t first, uint32_t last) {
  return refuse_in_kernel(kAsked, first, last);
}

Fd try_refuse_module_requests(uint32_t first, uint32_t last) {
  if (geteuid() != 0 || why_not_needed()) return {};
  try {
    return refuse_module_requests(first, last);
  } catch (const StepError& failure) {
    log::warn("sandboxes can make the kernel look for modules",
              {{"step", failure.what()}, {"errno", failure.number}, {"see", "sandgate doctor"}});
  }
  return {};
}

ProbeResult probe_module_requests() {
  const std::string name = "module requests";
  constexpr uint32_t kNobody = 0xfffffffe;  // no process has this id
  if (const char* reason = why_not_needed()) return {name, true, reason, ""};
  if (geteuid() != 0) return {name, true, "not known: needs root", ""};
  try {
    refuse_module_requests(kNobody, kNobody);
    return {name, true, "none of sandboxes while a node runs", ""};
  } catch (const StepError&) {
    return {
        name, false,
        "a program of an unknown format makes the kernel run modprobe, beyond all limits",
        "run Linux 6.14 or later, one with CONFIG_DEBUG_INFO_BTF, or sysctl -w kernel.modprobe="};
  }
}

}  // namespace sandgate
