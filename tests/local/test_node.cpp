// Runs a node with settings from the command line: name, data directory, run directory, agent
// program, uid of serve, id base, size of the warm pool, a workspace directory. For tests only.
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "gateway/core/error.hpp"
#include "local/egress/egress.hpp"
#include "local/node/node.hpp"

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "egress") return sandgate::egress::run_egress();
  if (argc != 9) return 2;
  sandgate::NodeSettings settings;
  settings.name = argv[1];
  settings.data_dir = argv[2];
  settings.run_dir = argv[3];
  settings.agent_binary = argv[4];
  settings.serve_uid = static_cast<uid_t>(std::atoi(argv[5]));
  settings.id_base = static_cast<uint32_t>(std::strtoul(argv[6], nullptr, 10));
  settings.warm_sandboxes = settings.warm_floor = std::strtoul(argv[7], nullptr, 10);
  if (*argv[8] != '\0') settings.workspaces.push_back(argv[8]);
  if (const char* mib = std::getenv("SANDGATE_TEST_READ_MIB"))
    settings.disk_read_mib = std::strtol(mib, nullptr, 10);
  if (const char* ranges = std::getenv("SANDGATE_TEST_ID_RANGES"))
    settings.id_ranges = static_cast<uint32_t>(std::strtoul(ranges, nullptr, 10));
  settings.ttl_grace = std::chrono::seconds(1);
  try {
    return sandgate::run_node(settings);
  } catch (const sandgate::Error& error) {
    std::cerr << error.what() << std::endl;
    return 1;
  }
}
