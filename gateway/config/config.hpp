#pragma once
#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/core/json_reader.hpp"
#include "gateway/core/secret.hpp"

namespace sandgate {

// The server's configuration. Member initializers are the defaults, options.cpp parses and formats
// each setting, and docs/sandgate.example.yaml documents it; keep the three consistent.
struct Config {
  std::string home;
  std::string listen_address = "127.0.0.1";
  uint16_t listen_port = 8080;
  std::string run_as = "sandgate";
  // 40 hex digits, with or without "sg_". Empty: only operator keys in the database are valid.
  Secret admin_key;
  Secret master_key;  // 64 hex digits; empty: $home/master.key, created if missing
  std::string master_key_lost;  // what the database knows a key by that is given up; mostly empty

  struct Tls {
    std::string certificate, key;  // PEM files; both or none
  } tls;

  struct Log {
    std::string level = "info";
    std::string format = "text";
  } log;

  struct DatabaseSection {
    std::string url;  // empty: an embedded cluster under $home/postgres
    int64_t connections = 8;
    int64_t patience_ms = 2000;
  } database;

  struct Local {
    bool enabled = true;
    std::string agent;  // the sandbox agent's program; empty: next to this program
    std::string images;  // directory of the image store; empty: $home/local/images
    std::string name = "local";
    int64_t uid_base = 200'000'000;
    int64_t warm_sandboxes = 64;
    int64_t warm_floor = 0;
    int64_t disk_read_mib_per_second = 1024;
    int64_t disk_write_mib_per_second = 1024;
    int64_t disk_operations_per_second = 16000;
    int64_t disk_floor_mib = 0;  // 0: 1 GiB, or a twentieth of the file system where that is less
    std::string workspaces;
    struct Egress {
      std::string private_cidrs;  // separated by commas
      std::string authorities;  // PEM file
    } egress;
  } local;

  struct Billing {
    std::string unpriced = "refuse";  // or "allow": backends without a known price
    bool price_required() const { return unpriced == "refuse"; }
    int64_t most_egress_gbit_per_second = 25;
    std::string issuer;  // lines printed at the top of invoices
  } billing;
  struct Ports {
    std::string domain;  // "sandboxes.example.com"; empty: ports are reached by path only
    int64_t silence_seconds = 300;
  } ports;

  struct E2b {
    std::string listen_address;  // empty: no listener for the data planes
    uint16_t listen_port = 0;
  } e2b;

  struct Limits {
    int64_t connections = 4096;
    int64_t header_bytes = 16384;
    int64_t body_bytes = 1 << 20;
    int64_t stop_grace_seconds = 30;
  } limits;

  struct Events {
    int64_t retention_days = 7;
  } events;

  struct History {
    int64_t retention_days = 0;  // 0: for ever
  } history;

  struct Mcp {
    std::string profile = "python";  // of sandboxes that sessions create; empty: none
    std::string origins;  // browser origins that may connect, comma-separated
  } mcp;

  struct Webhooks {
    bool allow_private = false;
  } webhooks;

  struct Threads {
    int64_t io = 0;  // 0: one per core
  } threads;

  // Valid but probably unintended: environment variables that look like settings.
  std::vector<std::string> warnings;

  // Derived paths, the same in every process.
  std::string postgres_data() const { return home + "/postgres/data"; }
  std::string postgres_socket() const { return home + "/postgres"; }
  std::string gateway_directory() const { return home + "/gateway"; }
  std::string machine_file() const { return gateway_directory() + "/machine"; }
  std::string outage_journal() const { return gateway_directory() + "/outage.journal"; }
  // Files with "address:port", written once the gateway listens; not removed when it stops.
  std::string listen_file() const { return gateway_directory() + "/listen"; }
  std::string e2b_listen_file() const { return gateway_directory() + "/listen_e2b"; }
  struct Listener {
    const char* setting;  // its path, as in errors
    std::string address;
    uint16_t port;
  };
  std::vector<Listener> listeners() const {
    std::vector<Listener> all{{"/listen", listen_address, listen_port}};
    const auto& [address, port] = e2b;
    if (!address.empty()) all.push_back({"/e2b/listen", address, port});
    return all;
  }
  std::string node_socket() const { return home + "/run/node.sock"; }
  std::string local_run() const { return home + "/run"; }
  std::string master_key_file() const { return home + "/master.key"; }
  std::string local_data() const { return home + "/local"; }
  std::string database_url() const;  // the configured one or the embedded cluster's
};

// Sources of settings; later ones override: defaults, file, environment, command line.
struct ConfigSources {
  std::string file;  // empty: none
  std::map<std::string, std::string> environment;  // the complete environment of the process
  std::vector<std::pair<std::string, std::string>> flags;  // "log.level" -> "debug"
  bool again = false;  // by a running server, which waits for nobody: `file` must be a regular one
};

// Validates all settings. Throws one Error(invalid) that lists every wrong or unknown setting with
// its path ("/log/level") and reason.
Config load_config(const ConfigSources& sources);

// Applies the log settings to this process.
void configure_log(const Config& config);

// Serializes a validated configuration for a child process, including its secrets.
Json to_json(const Config& config);
Config config_from_json(const Json& document);

}  // namespace sandgate
