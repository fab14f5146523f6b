#include "providers/cloudflare/cloudflare_kind.hpp"

#include <map>

#include "providers/cloudflare/cloudflare.hpp"
#include "providers/kind_settings.hpp"
#include "providers/vendor_kind.hpp"

namespace sandgate {
namespace {

// The vendor's predefined instance types; the smallest is below what Resources can express.
const std::map<std::string, DescriptorLimits>& cloudflare_types() {
  static const std::map<std::string, DescriptorLimits> kTypes{
      {"basic", {.max_milli_vcpu = 250, .max_memory_mib = 1024, .max_disk_gib = 4}},
      {"standard-1", {.max_milli_vcpu = 500, .max_memory_mib = 4096, .max_disk_gib = 8}},
      {"standard-2", {.max_milli_vcpu = 1000, .max_memory_mib = 6144, .max_disk_gib = 12}},
      {"standard-3", {.max_milli_vcpu = 2000, .max_memory_mib = 8192, .max_disk_gib = 16}},
      {"standard-4", {.max_milli_vcpu = 4000, .max_memory_mib = 12'288, .max_disk_gib = 20}}};
  return kTypes;
}

CloudflareSettings read_cloudflare(const Json& settings, const Json& credentials,
                                   Problems& problems) {
  CloudflareSettings result;
  ObjectReader reader(settings, problems, "/settings");
  reader.require("api_url");
  result.api_url = read_base_url(reader, "api_url");
  result.network_deny = read_network_deny(reader);
  const std::string type =
      reader
          .word("instance_type", {"basic", "standard-1", "standard-2", "standard-3", "standard-4"})
          .value_or("standard-1");
  result.limits = read_limits(reader, cloudflare_types().at(type));
  reader.finish();
  result.api_key = read_sole_credential(credentials, "api_key", problems);
  return result;
}

}  // namespace

ProviderKind cloudflare_kind() {
  return vendor_kind<CloudflareProvider>("cloudflare", &read_cloudflare);
}

}  // namespace sandgate
