#include "providers/northflank/northflank_kind.hpp"

#include "providers/kind_settings.hpp"
#include "providers/northflank/northflank.hpp"
#include "providers/vendor_kind.hpp"

namespace sandgate {
namespace {

// The largest plan and the longest expiry.
constexpr DescriptorLimits kNorthflankLimits{.max_milli_vcpu = 20'000,
                                             .max_memory_mib = 40'960,
                                             .max_disk_gib = 10,
                                             .max_ttl_seconds = 604'800};

NorthflankSettings read_northflank(const Json& settings, const Json& credentials,
                                   Problems& problems) {
  NorthflankSettings result;
  ObjectReader reader(settings, problems, "/settings");
  result.api_url = read_base_url(reader, "api_url", result.api_url);
  result.team = reader.text("team", {1, 100}).value_or("");
  reader.require("project");
  result.project = reader.text("project", {1, 100}).value_or("");
  result.rules.image = reader.text("image", {1, 500}).value_or("debian:12");
  result.rules.registry = reader.text("registry", {1, 100}).value_or("");
  result.rules.plan = reader.text("plan", {1, 100}).value_or("");
  result.isolation = read_isolation(reader, result.isolation);
  result.rules.keep_alive_seconds =
      reader.integer("keep_alive_seconds", 300, 604'800).value_or(result.rules.keep_alive_seconds);
  result.limits = read_limits(reader, kNorthflankLimits);
  reader.finish();
  result.api_token = read_sole_credential(credentials, "api_token", problems);
  return result;
}

}  // namespace

ProviderKind northflank_kind() {
  return vendor_kind<NorthflankProvider>("northflank", &read_northflank);
}

}  // namespace sandgate
