#pragma once
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "local/namespaces/disk_speed.hpp"

namespace sandgate {

// Settings of `sandgate node`. Several nodes may share a machine when name, directories and id
// ranges differ.
struct NodeSettings {
  std::string name = "local";  // [a-z0-9-]; control groups live below "sandgate-<name>"
  std::string data_dir = "/var/lib/sandgate/local";  // images and disks; kept over restarts
  std::string run_dir = "/run/sandgate/local";  // sockets and the journal of what runs
  std::string image_store;  // empty: data_dir + "/images"
  std::string socket;  // empty: run_dir + "/node.sock"
  uid_t serve_uid = 0;  // who else than root may talk to the node and to sandboxes
  std::string agent_binary;  // empty: "sandgate-agent" beside the running program
  uint32_t id_base = 200'000'000;  // first host uid of the first sandbox's range
  uint32_t id_ranges = 4096;  // how many ranges of 65 536 ids, so how many sandboxes at most
  int64_t max_milli_vcpu = 0, max_memory_mib = 0;  // of one sandbox; 0: what the machine has
  int64_t max_disk_gib = 64;
  // How fast one sandbox reads and writes the disk below data_dir, a second; 0: not limited.
  int64_t disk_read_mib = 1024, disk_write_mib = 1024, disk_operations = 16000;
  // What the file system of data_dir keeps free; 0: 1 GiB, or a twentieth of it where that is less.
  int64_t disk_floor_mib = 0;
  std::chrono::seconds ttl_grace{60};  // beyond a sandbox's ttl, when serve did not end it
  unsigned workers = 4;  // threads for blocking kernel work
  size_t warm_sandboxes = 16;  // started before anybody asks, together at most; 0: none
  size_t warm_floor = 0;  // of these, of each kind that was asked for lately, also when few ask
  // Directories that sandboxes may be shown, or parts of them; empty: none.
  std::vector<std::string> workspaces;
  std::vector<std::string> private_cidrs;  // blocks that are not public and yet may be reached
  std::string egress_authorities;  // PEM file: who else may vouch for upstreams; empty: nobody
};

// Where the pieces are below the two directories.
std::string socket_path(const NodeSettings& settings);
std::string sandboxes_dir(const NodeSettings& settings);
std::string ends_dir(const NodeSettings& settings);
std::string images_dir(const NodeSettings& settings);
std::string disks_dir(const NodeSettings& settings);
std::string snapshots_dir(const NodeSettings& settings);

// What the settings say of each sandbox's use of the disk that this machine keeps them on.
DiskSpeed disk_speed(const NodeSettings& settings);

// Whom the egress process runs as: the first id of the last range, which no sandbox gets.
uid_t egress_uid(const NodeSettings& settings);

// Letters, digits, '_' and '-', 1 to 64 of them: fit to become part of a path.
bool is_safe_name(std::string_view text);

}  // namespace sandgate
