#include "gateway/app/node_settings.hpp"

#include <unistd.h>

#include <sstream>

#include "gateway/supervisor/account.hpp"

namespace sandgate {
namespace {

std::vector<std::string> listed(const std::string& list) {
  std::vector<std::string> words;
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');) {
    std::erase(word, ' ');
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

}  // namespace

NodeSettings node_settings(const Config& config) {
  NodeSettings settings;
  // Several servers on one machine must use different control groups.
  settings.name = config.local.name;
  settings.data_dir = config.local_data();
  settings.run_dir = config.local_run();
  settings.image_store = config.local.images;
  settings.agent_binary = config.local.agent;
  settings.id_base = static_cast<uint32_t>(config.local.uid_base);
  settings.warm_sandboxes = static_cast<size_t>(config.local.warm_sandboxes);
  settings.warm_floor = static_cast<size_t>(config.local.warm_floor);
  settings.disk_read_mib = config.local.disk_read_mib_per_second;
  settings.disk_write_mib = config.local.disk_write_mib_per_second;
  settings.disk_operations = config.local.disk_operations_per_second;
  settings.disk_floor_mib = config.local.disk_floor_mib;
  std::istringstream workspaces(config.local.workspaces);
  for (std::string one; std::getline(workspaces, one, ':');)
    if (!one.empty()) settings.workspaces.push_back(one);
  settings.private_cidrs = listed(config.local.egress.private_cidrs);
  settings.egress_authorities = config.local.egress.authorities;
  if (geteuid() == 0)
    if (const auto account = find_account(config.run_as)) settings.serve_uid = account->uid;
  return settings;
}

}  // namespace sandgate
