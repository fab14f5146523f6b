#include "local/node/ceilings.hpp"

#include <algorithm>
#include <fstream>

namespace sandgate {
namespace {

struct Ceiling {
  const char* name;
  const char* setting;  // below /proc/sys
  int64_t enough;  // for dozens of sandboxes that take all they may
  const char* fix;
};

constexpr Ceiling kCeilings[] = {
    {"open files", "fs/file-max", 10'000'000, "sysctl -w fs.file-max=9223372036854775807"},
    {"process numbers", "kernel/pid_max", 1'000'000, "sysctl -w kernel.pid_max=4194304"},
    {"terminals", "kernel/pty/max", 4096, "sysctl -w kernel.pty.max=4096"}};

ProbeResult probe_ceiling(const Ceiling& ceiling) {
  std::ifstream in(std::string("/proc/sys/") + ceiling.setting);
  int64_t value = 0;
  if (!(in >> value)) return {ceiling.name, true, false, "not known", ""};
  const bool ok = value >= ceiling.enough;
  const std::string detail = "up to " + std::to_string(value);
  return {ceiling.name, ok, false,
          ok ? detail : detail + " on the whole machine: a few full sandboxes can take them all",
          ok ? "" : ceiling.fix};
}

}  // namespace

std::vector<ProbeResult> probe_ceilings() {
  std::vector<ProbeResult> results;
  std::ranges::transform(kCeilings, std::back_inserter(results), probe_ceiling);
  return results;
}

}  // namespace sandgate
