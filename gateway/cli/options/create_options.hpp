#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "gateway/core/json_reader.hpp"

namespace sandgate::cli {

// The options of `create`, `run` and `profiles explain` that describe a sandbox.
struct CreateOptions {
  std::string profile = "python";
  std::vector<std::string> env, metadata;  // "NAME=value"
  std::vector<std::string> allow, secrets, only, order, exclude;
  std::string image, snapshot, region, isolation, persistence, max_cost_per_hour;
  bool no_secrets = false;
  std::optional<int64_t> ttl_seconds, idle_timeout_seconds, memory_mib, disk_gib;
  std::optional<double> vcpu;

  // Returns the body of POST /v1/sandboxes with the given options only. Throws
  // CLI::ValidationError.
  Json body() const;
};

void add_create_options(CLI::App& command, CreateOptions& options);

}  // namespace sandgate::cli
