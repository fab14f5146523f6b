#include "local/node/machine/core_dump_sockets.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "gateway/core/files.hpp"
#include "gateway/core/log.hpp"
#include "local/namespaces/step_error.hpp"
#include "local/node/machine/kernel_function.hpp"

namespace sandgate {
namespace {

// Asked before a socket is made, of the family first, and last whether the kernel itself wants it,
// which for a process of a sandbox it does for a crash only.
constexpr const char* kAskedForSocket = "security_socket_create";
constexpr int kFamily = 0, kForKernel = 3;

bool knows_sockets() {
  const auto version = kernel_version();
  return !version || *version >= std::pair(6, 16);
}

bool sends_to_socket() {
  return read_text_file("/proc/sys/kernel/core_pattern").value_or("").starts_with("@");
}

}  // namespace

Fd refuse_core_dump_sockets(uint32_t first, uint32_t last) {
  return refuse_in_kernel(
      kAskedForSocket, first, last,
      {bpf::argument(BPF_REG_2, kForKernel), bpf::jump_if(BPF_JNE, BPF_REG_2, 0, 2),
       bpf::set(BPF_REG_0, 0), bpf::leave(), bpf::argument(BPF_REG_2, kFamily),
       bpf::jump_if(BPF_JEQ, BPF_REG_2, AF_UNIX, 2), bpf::set(BPF_REG_0, 0), bpf::leave()});
}

Fd try_refuse_core_dump_sockets(uint32_t first, uint32_t last) {
  if (geteuid() != 0 || !knows_sockets()) return {};
  try {
    return refuse_core_dump_sockets(first, last);
  } catch (const StepError& failure) {
    if (sends_to_socket())
      log::warn("crashes in sandboxes are sent to a socket of this machine",
                {{"step", failure.what()}, {"errno", failure.number}, {"see", "sandgate doctor"}});
  }
  return {};
}

ProbeResult probe_core_dump_sockets() {
  const std::string name = "core dumps";
  constexpr uint32_t kNobody = 0xfffffffe;  // no process has this id
  if (!knows_sockets()) return {name, true, "the kernel sends none to sockets", ""};
  try {
    if (geteuid() == 0) {
      refuse_core_dump_sockets(kNobody, kNobody);
      return {name, true, "none of sandboxes while a node runs", ""};
    }
  } catch (const StepError&) {
    // What the setting says now is all that is left to go by.
  }
  if (!sends_to_socket()) return {name, true, "kernel.core_pattern names no socket", ""};
  return {name, false, "crashes in sandboxes are sent to the socket that kernel.core_pattern names",
          "sysctl -w kernel.core_pattern=core, or run a node of root on a kernel with "
          "CONFIG_DEBUG_INFO_BTF"};
}

}  // namespace sandgate
