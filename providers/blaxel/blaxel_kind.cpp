#include "providers/blaxel/blaxel_kind.hpp"

#include "providers/blaxel/blaxel.hpp"
#include "providers/kind_settings.hpp"
#include "providers/vendor_kind.hpp"

namespace sandgate {
namespace {

// A size that every account is known to allow.
constexpr DescriptorLimits kBlaxelLimits{
    .max_milli_vcpu = 4000, .max_memory_mib = 8192, .max_disk_gib = 4, .max_ttl_seconds = 604'800};

BlaxelSettings read_blaxel(const Json& settings, const Json& credentials, Problems& problems) {
  BlaxelSettings result;
  ObjectReader reader(settings, problems, "/settings");
  result.api_url = read_base_url(reader, "api_url", result.api_url);
  // The value becomes a header.
  result.workspace = read_credential(reader, "workspace").reveal();
  result.rules.image = reader.text("image", {1, 300}).value_or(result.rules.image);
  result.rules.region = reader.text("region", {1, 100}).value_or("");
  result.rules.snapshots = reader.boolean("snapshots").value_or(false);
  result.limits = read_limits(reader, kBlaxelLimits);
  reader.finish();
  result.api_key = read_sole_credential(credentials, "api_key", problems);
  return result;
}

}  // namespace

ProviderKind blaxel_kind() { return vendor_kind<BlaxelProvider>("blaxel", &read_blaxel); }

}  // namespace sandgate
