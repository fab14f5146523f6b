#include "providers/vercel/vercel_kind.hpp"

#include "providers/kind_settings.hpp"
#include "providers/vendor_kind.hpp"
#include "providers/vercel/vercel.hpp"

namespace sandgate {
namespace {

// The smallest plan's limits. The vendor documents no disk size.
constexpr DescriptorLimits kVercelLimits{
    .max_milli_vcpu = 4000, .max_memory_mib = 8192, .max_disk_gib = 10, .max_ttl_seconds = 2700};

VercelSettings read_vercel(const Json& settings, const Json& credentials, Problems& problems) {
  VercelSettings result;
  ObjectReader reader(settings, problems, "/settings");
  result.api_url = read_base_url(reader, "api_url", result.api_url);
  reader.require("team");
  reader.require("project");
  result.team = reader.text("team", {1, 200}).value_or("");
  result.rules.project = reader.text("project", {1, 200}).value_or("");
  result.rules.image = reader.text("image", {1, 500}).value_or("");
  result.rules.region = reader.text("region", {1, 40}).value_or("");
  result.rules.snapshot_days =
      reader.integer("snapshot_days", 1, 365).value_or(result.rules.snapshot_days);
  result.limits = read_limits(reader, kVercelLimits);
  reader.finish();
  result.token = read_sole_credential(credentials, "token", problems);
  return result;
}

}  // namespace

ProviderKind vercel_kind() { return vendor_kind<VercelProvider>("vercel", &read_vercel); }

}  // namespace sandgate
