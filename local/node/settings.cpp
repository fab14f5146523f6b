#include "local/node/settings.hpp"

#include <algorithm>

#include "local/namespaces/user_ns.hpp"

namespace sandgate {

std::string socket_path(const NodeSettings& settings) {
  return settings.socket.empty() ? settings.run_dir + "/node.sock" : settings.socket;
}
std::string sandboxes_dir(const NodeSettings& settings) { return settings.run_dir + "/sandboxes"; }

std::string final_usage_dir(const NodeSettings& settings) { return settings.run_dir + "/ends"; }
std::string images_dir(const NodeSettings& settings) {
  return settings.image_store.empty() ? settings.data_dir + "/images" : settings.image_store;
}
std::string disks_dir(const NodeSettings& settings) { return settings.data_dir + "/disks"; }
std::string snapshots_dir(const NodeSettings& settings) { return settings.data_dir + "/snapshots"; }

DiskSpeed disk_speed(const NodeSettings& settings) {
  return {settings.disk_read_mib << 20, settings.disk_write_mib << 20, settings.disk_operations,
          disk_under(settings.data_dir)};
}

uid_t egress_uid(const NodeSettings& settings) {
  return settings.id_base + (settings.id_ranges - 1) * kIdRange;
}

bool is_safe_name(std::string_view text) {
  auto safe = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  };
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), safe);
}

}  // namespace sandgate
