#include "local/node/machine/mount_probe.hpp"

#include <fcntl.h>
#include <sys/mount.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "local/namespaces/mount_calls.hpp"
#include "local/namespaces/step_error.hpp"
#include "local/namespaces/user_ns.hpp"

namespace sandgate {
namespace {

constexpr uint32_t kSomeRange = 1 << 20;  // any base but 0 will do

bool is_loaded(const std::string& type) {
  std::ifstream in("/proc/filesystems");
  for (std::string word; in >> word;)
    if (word == type) return true;
  return false;
}

Fd open_nearest(const std::filesystem::path& directory) {
  std::filesystem::path nearest = directory;
  Fd found(open(nearest.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  while (!found && nearest.has_relative_path()) {
    nearest = nearest.parent_path();
    found = Fd(open(nearest.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  return found;
}

}  // namespace

bool can_mount(const std::string& type) {
  return is_loaded(type) || Fd(fsopen(type.c_str(), FSOPEN_CLOEXEC));
}

std::string id_mapping_lacks(const std::string& directory) {
  Fd tree, user_namespace;
  try {
    tree = clone_mount(open_nearest(directory).get());
    user_namespace = user_namespace_of_account(kSomeRange, 0, 0);
  } catch (const StepError&) {
    return "";  // not the file system's fault: the first sandbox tells it
  }
  try {
    idmap_mount(tree.get(), user_namespace.get(), MOUNT_ATTR_RDONLY);
    return "";
  } catch (const StepError& failed) {
    return std::string(failed.what()) + ": " + std::strerror(failed.number);
  }
}

}  // namespace sandgate
