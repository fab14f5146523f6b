#include "gateway/app/machine_name.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "gateway/core/crypto.hpp"
#include "gateway/core/error.hpp"
#include "gateway/core/files.hpp"
#include "gateway/core/log.hpp"
#include "gateway/core/random.hpp"

namespace sandgate {
namespace {

constexpr size_t kNameBytes = 8;

}  // namespace

std::optional<std::string> known_machine(const std::string& path) {
  if (!std::filesystem::exists(std::filesystem::symlink_status(path))) return std::nullopt;
  std::string name;
  if (std::filesystem::is_regular_file(path)) std::ifstream(path) >> name;
  const auto bytes = from_hex(name);
  if (bytes && bytes->size() == kNameBytes) return name;
  throw Error(ErrorCode::invalid,
              path +
                  " does not hold the 16 hex digits that name this machine: bring it back from a "
                  "copy or write them again (they follow the @ in the database's "
                  "sandbox.backend_id); or remove it, which gives up this machine's sandboxes");
}

std::string machine_name(const std::string& path) {
  if (const auto known = known_machine(path)) return *known;
  const std::string name = random_hex(kNameBytes);
  if (!replace_file(path, name + "\n", 0644, Durability::through_power_cuts))
    throw Error(ErrorCode::unavailable, "cannot write " + path);
  log::info("this machine has a name now", {{"machine", name}});
  return name;
}

std::string place_of(const std::string& directory) {
  struct stat status {};
  if (stat(directory.c_str(), &status) != 0)
    throw Error(ErrorCode::unavailable, "cannot look at " + directory);
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return boot + " " + std::to_string(status.st_dev) + " " + std::to_string(status.st_ino);
}

}  // namespace sandgate
