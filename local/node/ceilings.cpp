#include "local/node/ceilings.hpp"

#include <fcntl.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>

#include "gateway/core/log.hpp"
#include "local/fd.hpp"

namespace sandgate {
namespace {

// A lower bound: the kernel's struct file alone takes about 200 bytes.
constexpr int64_t kLeastBytesOfAFile = 128;

std::optional<int64_t> number_in(const std::string& path) {
  std::ifstream in(path);
  int64_t value = 0;
  return in >> value ? std::optional(value) : std::nullopt;
}

// A sysctl file must be written in one call.
bool write_number(const std::string& path, int64_t value) {
  const Fd file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  const std::string text = std::to_string(value) + "\n";
  return file && write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

int64_t files_that_fit_into_memory() {
  struct sysinfo info {};
  sysinfo(&info);
  return static_cast<int64_t>(info.totalram) * info.mem_unit / kLeastBytesOfAFile;
}

// With nokmem, control groups do not count open files, and only the machine's limit bounds them.
std::string why_files_are_kept(const std::string& kernel_options) {
  std::ifstream in(kernel_options);
  for (std::string option; in >> option;) {
    if (option.starts_with("cgroup.memory=") && option.find("nokmem") != std::string::npos)
      return "cgroup.memory=nokmem";
  }
  return "";
}

std::string joined(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : " ") + name;
  return all;
}

}  // namespace

Ceiling::Lifted Ceiling::lift() const {
  const auto value = number_in(setting_.path);
  if (!value || *value >= setting_.enough) return Lifted::was_enough;
  const bool may = setting_.kept_because.empty();
  return may && write_number(setting_.path, setting_.most) ? Lifted::raised : Lifted::refused;
}

ProbeResult Ceiling::probe() const {
  const auto value = number_in(setting_.path);
  if (!value) return {setting_.name, true, false, "not known", ""};
  const std::string detail = "up to " + std::to_string(*value);
  if (*value >= setting_.enough) return {setting_.name, true, false, detail, ""};
  const std::string few = detail + " on the whole machine: a few sandboxes can take them all";
  if (!setting_.kept_because.empty())
    return {setting_.name, false, false, few, "boot without " + setting_.kept_because};
  if (access(setting_.path.c_str(), W_OK) == 0)
    return {setting_.name, true, false, detail + " until a node begins, which raises that", ""};
  return {setting_.name, false, false, few,
          "sysctl -w " + setting_.sysctl + "=" + std::to_string(setting_.most)};
}

std::vector<Ceiling> ceilings(const std::string& proc) {
  const auto ceiling = [&proc](std::string name, std::string sysctl, int64_t enough, int64_t most,
                               std::string kept_because = "") {
    std::string path = proc + "/sys/" + sysctl;
    std::ranges::replace(path.begin() + static_cast<ptrdiff_t>(proc.size()), path.end(), '.', '/');
    return Ceiling({std::move(name), std::move(sysctl), std::move(path), enough, most,
                    std::move(kept_because)});
  };
  return {ceiling("open files", "fs.file-max", files_that_fit_into_memory(),
                  std::numeric_limits<int64_t>::max(), why_files_are_kept(proc + "/cmdline")),
          ceiling("process numbers", "kernel.pid_max", 1'000'000, 4'194'304),
          ceiling("terminals", "kernel.pty.max", 65'536, 1'048'576)};
}

void lift_ceilings() {
  std::vector<std::string> raised, refused;
  for (const Ceiling& ceiling : ceilings()) {
    const Ceiling::Lifted lifted = ceiling.lift();
    if (lifted == Ceiling::Lifted::raised) raised.push_back(ceiling.sysctl());
    if (lifted == Ceiling::Lifted::refused) refused.push_back(ceiling.sysctl());
  }
  if (!raised.empty())
    log::info("limits of the machine raised for its sandboxes", {{"settings", joined(raised)}});
  if (!refused.empty())
    log::warn("limits of the machine are low, and this node may not raise them",
              {{"settings", joined(refused)}, {"see", "sandgate doctor"}});
}

std::vector<ProbeResult> probe_ceilings() {
  std::vector<ProbeResult> results;
  for (const Ceiling& ceiling : ceilings()) results.push_back(ceiling.probe());
  return results;
}

}  // namespace sandgate
