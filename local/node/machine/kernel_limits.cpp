#include "local/node/machine/kernel_limits.hpp"

#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>

#include <boost/algorithm/string/join.hpp>

#include "gateway/core/log.hpp"
#include "local/node/machine/sysctl.hpp"

namespace sandgate {
namespace {

// A lower bound: the kernel's struct file alone takes about 200 bytes.
constexpr int64_t kMinBytesOfAFile = 128;
// Of its kernel stack.
constexpr int64_t kMinBytesOfAThread = 16384;
// A closed connection stays for the sake of bytes that its peer has no room for; both take a page.
constexpr int64_t kMinBytesOfAnOrphan = 4096;
constexpr int64_t kMaxThreads = 4'194'304;  // as many as there may be process numbers

std::optional<int64_t> number_in(const std::string& path) {
  std::ifstream in(path);
  int64_t value = 0;
  return in >> value ? std::optional(value) : std::nullopt;
}

int64_t bytes_of_memory() {
  struct sysinfo info {};
  sysinfo(&info);
  return static_cast<int64_t>(info.totalram) * info.mem_unit;
}

// Where control groups do not count open files or sockets, only the machine's limit bounds them.
std::string why_kept(const std::string& kernel_options, const std::string& uncounted) {
  std::ifstream in(kernel_options);
  for (std::string option; in >> option;) {
    if (option.starts_with("cgroup.memory=") && option.find(uncounted) != std::string::npos)
      return "cgroup.memory=" + uncounted;
  }
  return "";
}

}  // namespace

KernelLimit::RaiseResult KernelLimit::raise() const {
  const auto value = number_in(setting_.path);
  if (!value || *value >= setting_.enough) return RaiseResult::was_enough;
  const bool may = setting_.kept_because.empty();
  return may && write_sysctl(setting_.path, setting_.most) ? RaiseResult::raised
                                                           : RaiseResult::refused;
}

ProbeResult KernelLimit::probe() const {
  const auto value = number_in(setting_.path);
  if (!value) return {setting_.name, true, "not known", ""};
  const std::string detail = "up to " + std::to_string(*value);
  if (*value >= setting_.enough) return {setting_.name, true, detail, ""};
  const std::string few = detail + " on the whole machine: a few sandboxes can take them all";
  if (!setting_.kept_because.empty())
    return {setting_.name, false, few, "boot without " + setting_.kept_because};
  if (access(setting_.path.c_str(), W_OK) == 0)
    return {setting_.name, true, detail + " until a node begins, which raises that", ""};
  return {setting_.name, false, few,
          "sysctl -w " + setting_.sysctl + "=" +
              (setting_.most.find(' ') == std::string::npos ? setting_.most
                                                            : "'" + setting_.most + "'")};
}

std::vector<KernelLimit> kernel_limits(const std::string& proc) {
  const auto limit = [&proc](std::string name, std::string sysctl, int64_t enough, std::string most,
                             std::string kept_because = "") {
    std::string path = sysctl_path(sysctl, proc);
    return KernelLimit({std::move(name), std::move(sysctl), std::move(path), enough,
                        std::move(most), std::move(kept_because)});
  };
  const std::string options = proc + "/cmdline";
  const int64_t pages = bytes_of_memory() / sysconf(_SC_PAGESIZE);
  // What all sandboxes may hold, a quarter of their memory, is below the first number, from which
  // on the kernel watches sockets; the others are in the proportion that it chooses itself.
  const int64_t calm = pages / 4;
  const std::string buffers =
      std::to_string(calm) + " " + std::to_string(pages / 3) + " " + std::to_string(pages / 2);
  return {limit("open files", "fs.file-max", bytes_of_memory() / kMinBytesOfAFile,
                std::to_string(std::numeric_limits<int64_t>::max()), why_kept(options, "nokmem")),
          limit("process numbers", "kernel.pid_max", 1'000'000, "4194304"),
          limit("terminals", "kernel.pty.max", 65'536, "1048576"),
          limit("TCP buffers", "net.ipv4.tcp_mem", calm, buffers, why_kept(options, "nosocket")),
          limit("UDP buffers", "net.ipv4.udp_mem", calm, buffers, why_kept(options, "nosocket")),
          limit("threads", "kernel.threads-max",
                std::min(bytes_of_memory() / kMinBytesOfAThread, kMaxThreads),
                std::to_string(kMaxThreads)),
          limit("closed connections", "net.ipv4.tcp_max_orphans",
                std::min<int64_t>(bytes_of_memory() / kMinBytesOfAnOrphan,
                                  std::numeric_limits<int>::max()),
                std::to_string(std::numeric_limits<int>::max()), why_kept(options, "nosocket"))};
}

void raise_kernel_limits() {
  std::vector<std::string> raised, refused;
  for (const KernelLimit& limit : kernel_limits()) {
    const KernelLimit::RaiseResult result = limit.raise();
    if (result == KernelLimit::RaiseResult::raised) raised.push_back(limit.sysctl());
    if (result == KernelLimit::RaiseResult::refused) refused.push_back(limit.sysctl());
  }
  if (!raised.empty())
    log::info("limits of the machine raised for its sandboxes",
              {{"settings", boost::algorithm::join(raised, " ")}});
  if (!refused.empty())
    log::warn("limits of the machine are low, and this node may not raise them",
              {{"settings", boost::algorithm::join(refused, " ")}, {"see", "sandgate doctor"}});
}

std::vector<ProbeResult> probe_kernel_limits() {
  std::vector<ProbeResult> results;
  for (const KernelLimit& limit : kernel_limits()) results.push_back(limit.probe());
  return results;
}

ProbeResult probe_reserved_memory(const std::string& proc) {
  constexpr int64_t kStrict = 2;
  const std::string name = "reserved memory";
  if (number_in(proc + "/sys/vm/overcommit_memory") != kStrict)
    return {name, true, "not limited", ""};
  return {name, false, "limited on the whole machine: one sandbox can reserve it all",
          "sysctl -w vm.overcommit_memory=0"};
}

}  // namespace sandgate
