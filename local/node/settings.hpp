#pragma once
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "local/namespaces/disk_speed.hpp"

namespace sandgate {

// Settings of `sandgate node`. Several nodes may share a machine if their directories differ.
struct NodeSettings {
  std::string name = "local";  // [a-z0-9-]; control groups live below "sandgate-<name>"
  std::string data_dir = "/var/lib/sandgate/local";  // images and disks; kept over restarts
  std::string run_dir = "/run/sandgate/local";  // sockets and the journal of what runs
  std::string image_store;  // empty: data_dir + "/images"
  std::string socket;  // empty: run_dir + "/node.sock"
  uid_t serve_uid = 0;  // the user besides root that may connect to the node and to agents
  std::string agent_binary;  // empty: "sandgate-agent" beside the running program
  uint32_t id_base = 200'000'000;  // first host uid of the first sandbox's range
  uint32_t id_ranges = 4096;  // number of ranges of 65 536 ids; limits the number of sandboxes
  int64_t max_milli_vcpu = 0, max_memory_mib = 0;  // of one sandbox; 0: what the machine has
  int64_t max_disk_gib = 64;
  // Limits per second of each sandbox's reads and writes on the disk of data_dir; 0: not limited.
  int64_t disk_read_mib = 1024, disk_write_mib = 1024, disk_operations = 16000;
  // Space to keep free on the file system of data_dir; 0: 1 GiB, or 1/20 of it if that is less.
  int64_t disk_floor_mib = 0;
  std::chrono::seconds ttl_grace{60};  // the node ends a sandbox this long after its ttl
  size_t warm_sandboxes = 64;  // maximum size of the warm pool, over all classes; 0: no pool
  size_t warm_floor = 0;  // minimum of each class that was recently asked for
  // Host directories that may be mounted as workspaces, also their subdirectories; empty: none.
  std::vector<std::string> workspaces;
  std::vector<std::string> private_cidrs;  // non-public blocks that sandboxes may reach
  std::string egress_authorities;  // PEM file of further CAs trusted for upstreams; empty: none
};

// Paths below the two directories.
std::string socket_path(const NodeSettings& settings);
std::string sandboxes_dir(const NodeSettings& settings);
std::string final_usage_dir(const NodeSettings& settings);
std::string images_dir(const NodeSettings& settings);
std::string disks_dir(const NodeSettings& settings);
std::string snapshots_dir(const NodeSettings& settings);

// The limits of each sandbox's disk use, with the device that holds data_dir.
DiskSpeed disk_speed(const NodeSettings& settings);

// The uid of the egress process: the first id of the last range, which no sandbox gets.
uid_t egress_uid(const NodeSettings& settings);

// Whether the text can be a path component: 1 to 64 letters, digits, '_' and '-'.
bool is_safe_name(std::string_view text);

}  // namespace sandgate
