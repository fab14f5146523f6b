#include "tests/local/host_state.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "gateway/core/json_reader.hpp"

namespace sandgate::test {
namespace {

namespace fs = std::filesystem;

// The ids of sandboxes end where the egress process has its own.
constexpr uint32_t kEgressOffset = 4095 * 65536u;

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

int lines_of(const fs::path& path) {
  const std::string text = text_of(path);
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

template <class F>
int count_entries(const fs::path& directory, F counts) {
  std::error_code ignored;
  int count = 0;
  for (const auto& entry : fs::directory_iterator(directory, ignored))
    if (counts(entry)) ++count;
  return count;
}

// Whose a process is, also when it is dead and nobody has looked; 0 when it is gone.
uint32_t uid_of(const fs::path& process) {
  const std::string status = text_of(process / "status");
  const size_t at = status.find("\nUid:\t");
  return at == std::string::npos
             ? 0
             : static_cast<uint32_t>(std::strtoul(status.c_str() + at + 6, nullptr, 10));
}

int groups_of(const std::string& node) {
  int count = 0;
  std::error_code ignored;
  for (fs::recursive_directory_iterator it("/sys/fs/cgroup", ignored), end; it != end;
       it.increment(ignored)) {
    if (it->path().parent_path().filename() == "sandgate-" + node && it->is_directory(ignored))
      ++count;
  }
  return count;
}

// Of all users in the range: a line of theirs says "uid: users keys/...".
template <class F>
int keys_of(F is_ours) {
  std::ifstream in("/proc/key-users");
  int count = 0;
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    uint32_t uid = 0;
    int users = 0, keys = 0;
    char colon = 0;
    if (fields >> uid >> colon >> users >> keys && is_ours(uid)) count += keys;
  }
  return count;
}

void add_files(const fs::path& top, HostState& state) {
  std::error_code ignored;
  for (fs::recursive_directory_iterator it(top, ignored), end; it != end; it.increment(ignored)) {
    struct stat status {};
    if (lstat(it->path().c_str(), &status) != 0) continue;
    ++state.files;
    if (S_ISREG(status.st_mode)) state.disk_kib += status.st_blocks / 2;
  }
}

}  // namespace

bool HostState::within(const HostState& before) const {
  return mounts <= before.mounts && links <= before.links && loops <= before.loops &&
         cgroups <= before.cgroups && processes <= before.processes &&
         namespaces <= before.namespaces;
}

HostState look_at_host(const NodeTraces& node) {
  HostState state;
  state.mounts = lines_of("/proc/self/mountinfo");
  state.links = count_entries("/sys/class/net", [](const auto&) { return true; });
  state.loops = count_entries("/sys/block", [&](const auto& entry) {
    return text_of(entry.path() / "loop/backing_file").starts_with(node.data_dir);
  });
  state.cgroups = groups_of(node.name);
  const uint32_t base = claimed_base(node.run_dir);
  const auto is_ours = [base](uint32_t uid) { return uid >= base && uid - base < kEgressOffset; };
  state.processes =
      count_entries("/proc", [&](const auto& entry) { return is_ours(uid_of(entry.path())); });
  state.keys = keys_of(is_ours);
  add_files(node.data_dir, state);
  add_files(node.run_dir, state);
  std::error_code none;
  if (const fs::path memory = fs::read_symlink(node.run_dir + "/sandboxes", none); !none)
    add_files(memory, state);
  if (node.pid < 0) return state;
  state.namespaces =
      count_entries("/proc/" + std::to_string(node.pid) + "/fd", [](const auto& entry) {
        std::error_code gone;
        const std::string held = fs::read_symlink(entry.path(), gone);
        return held.starts_with("net:[") || held.starts_with("mnt:[");
      });
  return state;
}

int descriptors_of(pid_t pid) {
  return count_entries("/proc/" + std::to_string(pid) + "/fd", [](const auto&) { return true; });
}

uint32_t claimed_base(const std::string& run_dir) {
  std::error_code ignored;
  for (const auto& claim : fs::directory_iterator("/run/sandgate-nodes", ignored)) {
    const Json json = Json::parse(text_of(claim.path()), nullptr, /*allow_exceptions=*/false);
    if (json.is_object() && json.value("sandboxes", "") == run_dir + "/sandboxes")
      return json.value("id_base", UINT32_MAX);
  }
  return UINT32_MAX;
}

std::ostream& operator<<(std::ostream& out, const HostState& state) {
  return out << state.mounts << " mounts, " << state.links << " links, " << state.loops
             << " loops, " << state.cgroups << " control groups, " << state.processes
             << " processes, " << state.keys << " keys, " << state.namespaces << " namespaces, "
             << state.files << " files of " << state.disk_kib << " KiB";
}

}  // namespace sandgate::test
