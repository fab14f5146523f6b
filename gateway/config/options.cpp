#include "gateway/config/options.hpp"

#include <algorithm>

#include <boost/algorithm/string/join.hpp>

#include "gateway/core/number_text.hpp"

namespace sandgate {
namespace {

using Set = std::function<std::string(Config&, const std::string&)>;
using Get = std::function<std::string(const Config&)>;

Option text(std::string path, std::function<std::string&(Config&)> field) {
  return {std::move(path),
          [field](Config& config, const std::string& value) -> std::string {
            field(config) = value;
            return "";
          },
          [field](const Config& config) { return field(const_cast<Config&>(config)); }};
}

Option secret(std::string path, std::function<Secret&(Config&)> field,
              std::function<bool(const std::string&)> valid, std::string rule) {
  return {std::move(path),
          [field, valid, rule](Config& config, const std::string& value) -> std::string {
            if (!value.empty() && !valid(value)) return rule;
            field(config) = Secret(value);
            return "";
          },
          [field](const Config& config) { return field(const_cast<Config&>(config)).reveal(); }};
}

Option word(std::string path, std::vector<std::string> allowed,
            std::function<std::string&(Config&)> field) {
  return {std::move(path),
          [field, allowed](Config& config, const std::string& value) -> std::string {
            if (std::find(allowed.begin(), allowed.end(), value) == allowed.end())
              return "must be one of: " + boost::algorithm::join(allowed, ", ");
            field(config) = value;
            return "";
          },
          [field](const Config& config) { return field(const_cast<Config&>(config)); }};
}

Option number(std::string path, int64_t min, int64_t max, std::function<int64_t&(Config&)> field) {
  return {
      std::move(path),
      [field, min, max](Config& config, const std::string& value) -> std::string {
        const auto parsed = number_from<int64_t>(value);
        if (!parsed || *parsed < min || *parsed > max)
          return "must be an integer from " + std::to_string(min) + " to " + std::to_string(max);
        field(config) = *parsed;
        return "";
      },
      [field](const Config& config) { return std::to_string(field(const_cast<Config&>(config))); }};
}

Option flag(std::string path, std::function<bool&(Config&)> field) {
  return {std::move(path),
          [field](Config& config, const std::string& value) -> std::string {
            if (value != "true" && value != "false") return "must be true or false";
            field(config) = value == "true";
            return "";
          },
          [field](const Config& config) -> std::string {
            return field(const_cast<Config&>(config)) ? "true" : "false";
          }};
}

std::string set_address(std::string& address, uint16_t& port, const std::string& value) {
  const size_t colon = value.rfind(':');
  if (colon == std::string::npos || colon == 0) return "must be address:port";
  const auto number = number_from<uint16_t>(std::string_view(value).substr(colon + 1));
  if (!number) return "must end in a port from 0 to 65535";
  address = value.substr(0, colon);
  if (address.starts_with("[") && address.ends_with("]"))
    address = address.substr(1, address.size() - 2);
  port = *number;
  return "";
}

std::string get_address(const std::string& address, uint16_t port) {
  const bool v6 = address.find(':') != std::string::npos;
  return (v6 ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

std::string set_listen(Config& config, const std::string& value) {
  return set_address(config.listen_address, config.listen_port, value);
}

std::string get_listen(const Config& config) {
  return get_address(config.listen_address, config.listen_port);
}

std::string set_data_listen(Config& config, const std::string& value) {
  if (!value.empty()) return set_address(config.e2b.listen_address, config.e2b.listen_port, value);
  config.e2b = {};
  return "";
}

std::string get_data_listen(const Config& config) {
  const auto& [address, port] = config.e2b;
  return address.empty() ? "" : get_address(address, port);
}

// Labels between single dots, none of them empty.
bool is_domain(const std::string& text) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '.'; };
  return !text.empty() && std::ranges::all_of(text, fits) && text.front() != '.' &&
         text.back() != '.' && text.find("..") == std::string::npos;
}

bool is_port(const std::string& text) { return number_from<uint16_t>(text).value_or(0) != 0; }

std::string set_domain(Config& config, const std::string& value) {
  const size_t colon = value.find(':');
  const bool fits = is_domain(value.substr(0, colon)) &&
                    (colon == std::string::npos || is_port(value.substr(colon + 1)));
  if (!value.empty() && !fits) return "must be a domain, with :port when clients need one";
  config.ports.domain = value;
  return "";
}

std::string set_name(Config& config, const std::string& value) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  };
  if (value.empty() || value.size() > 64 || !std::all_of(value.begin(), value.end(), fits))
    return "must be 1 to 64 of lower-case letters, digits and '-'";
  config.local.name = value;
  return "";
}

bool is_hex(const std::string& text, size_t length) {
  return text.size() == length && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

bool is_admin_key(const std::string& text) {
  return is_hex(text.starts_with("sg_") ? text.substr(3) : text, 40);
}

bool is_master_key(const std::string& text) { return is_hex(text, 64); }

std::string set_lost_key(Config& config, const std::string& value) {
  if (!value.empty() && value != "unknown" && !is_hex(value, 32))
    return "must be what the refused start named, or empty";
  config.master_key_lost = value;
  return "";
}

std::vector<Option> server_options() {
  return {
      text("home", [](Config& c) -> std::string& { return c.home; }),
      {"listen", set_listen, get_listen},
      text("run_as", [](Config& c) -> std::string& { return c.run_as; }),
      secret(
          "admin_key", [](Config& c) -> Secret& { return c.admin_key; }, is_admin_key,
          "must be 40 hex digits, with or without sg_"),
      secret(
          "master_key", [](Config& c) -> Secret& { return c.master_key; }, is_master_key,
          "must be 64 hex digits"),
      {"master_key_lost", set_lost_key, [](const Config& c) { return c.master_key_lost; }},
      text("tls.certificate", [](Config& c) -> std::string& { return c.tls.certificate; }),
      text("tls.key", [](Config& c) -> std::string& { return c.tls.key; }),
      word("log.level", {"debug", "info", "warning", "error", "off"},
           [](Config& c) -> std::string& { return c.log.level; }),
      word("log.format", {"text", "json"}, [](Config& c) -> std::string& { return c.log.format; }),
  };
}

std::vector<Option> local_options() {
  return {
      flag("local.enabled", [](Config& c) -> bool& { return c.local.enabled; }),
      text("local.agent", [](Config& c) -> std::string& { return c.local.agent; }),
      {"local.name", set_name, [](const Config& c) { return c.local.name; }},
      text("local.images", [](Config& c) -> std::string& { return c.local.images; }),
      number("local.uid_base", 65536, 4000000000,
             [](Config& c) -> int64_t& { return c.local.uid_base; }),
      number("local.warm_sandboxes", 0, 1024,
             [](Config& c) -> int64_t& { return c.local.warm_sandboxes; }),
      number("local.warm_floor", 0, 1024, [](Config& c) -> int64_t& { return c.local.warm_floor; }),
      number("local.disk_read_mib_per_second", 0, 1'000'000,
             [](Config& c) -> int64_t& { return c.local.disk_read_mib_per_second; }),
      number("local.disk_write_mib_per_second", 0, 1'000'000,
             [](Config& c) -> int64_t& { return c.local.disk_write_mib_per_second; }),
      number("local.disk_operations_per_second", 0, 10'000'000,
             [](Config& c) -> int64_t& { return c.local.disk_operations_per_second; }),
      number("local.disk_floor_mib", 0, 1'000'000'000,
             [](Config& c) -> int64_t& { return c.local.disk_floor_mib; }),
      text("local.workspaces", [](Config& c) -> std::string& { return c.local.workspaces; }),
  };
}

std::vector<Option> resource_options() {
  return {
      text("database.url", [](Config& c) -> std::string& { return c.database.url; }),
      number("database.connections", 1, 256,
             [](Config& c) -> int64_t& { return c.database.connections; }),
      number("database.patience_ms", 100, 60000,
             [](Config& c) -> int64_t& { return c.database.patience_ms; }),
      word("billing.unpriced", {"refuse", "allow"},
           [](Config& c) -> std::string& { return c.billing.unpriced; }),
      number("billing.most_egress_gbit_per_second", 1, 10'000,
             [](Config& c) -> int64_t& { return c.billing.most_egress_gbit_per_second; }),
      text("billing.issuer", [](Config& c) -> std::string& { return c.billing.issuer; }),
      number("limits.connections", 1, 1000000,
             [](Config& c) -> int64_t& { return c.limits.connections; }),
      number("limits.header_bytes", 1024, 1048576,
             [](Config& c) -> int64_t& { return c.limits.header_bytes; }),
      number("limits.body_bytes", 1024, 67108864,
             [](Config& c) -> int64_t& { return c.limits.body_bytes; }),
      number("limits.stop_grace_seconds", 0, 3600,
             [](Config& c) -> int64_t& { return c.limits.stop_grace_seconds; }),
      number("threads.io", 0, 256, [](Config& c) -> int64_t& { return c.threads.io; }),
  };
}

std::vector<Option> port_options() {
  return {
      {"ports.domain", set_domain, [](const Config& c) { return c.ports.domain; }},
      number("ports.silence_seconds", 1, 86400,
             [](Config& c) -> int64_t& { return c.ports.silence_seconds; }),
      {"e2b.listen", set_data_listen, get_data_listen},
  };
}

std::vector<Option> mcp_options() {
  return {
      text("mcp.profile", [](Config& c) -> std::string& { return c.mcp.profile; }),
      text("mcp.origins", [](Config& c) -> std::string& { return c.mcp.origins; }),
  };
}

std::vector<Option> egress_options() {
  return {
      text("local.egress.private_cidrs",
           [](Config& c) -> std::string& { return c.local.egress.private_cidrs; }),
      text("local.egress.authorities",
           [](Config& c) -> std::string& { return c.local.egress.authorities; }),
  };
}

std::vector<Option> event_options() {
  return {
      number("events.retention_days", 1, 3650,
             [](Config& c) -> int64_t& { return c.events.retention_days; }),
      number("history.retention_days", 0, 3650,
             [](Config& c) -> int64_t& { return c.history.retention_days; }),
      flag("webhooks.allow_private", [](Config& c) -> bool& { return c.webhooks.allow_private; }),
  };
}

}  // namespace

const std::vector<Option>& options() {
  static const std::vector<Option> kOptions = [] {
    auto all = server_options();
    for (auto& more : {local_options(), resource_options(), port_options(), mcp_options(),
                       egress_options(), event_options()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return kOptions;
}

std::string environment_name(const std::string& path) {
  std::string name = "SANDGATE_";
  for (char c : path)
    name.push_back(c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c))));
  return name;
}

}  // namespace sandgate
