#include "providers/e2b/e2b_kind.hpp"

#include "providers/e2b/e2b.hpp"
#include "providers/kind_settings.hpp"
#include "providers/vendor_kind.hpp"

namespace sandgate {
namespace {

// The size of the template `base` and the limits of the smallest plan.
constexpr DescriptorLimits kE2bLimits{
    .max_milli_vcpu = 2000, .max_memory_mib = 512, .max_disk_gib = 10, .max_ttl_seconds = 3600};

E2bSettings read_e2b(const Json& settings, const Json& credentials, Problems& problems) {
  E2bSettings result;
  ObjectReader reader(settings, problems, "/settings");
  result.api_url = read_base_url(reader, "api_url", result.api_url);
  result.domain = reader.text("domain", {1, 255}).value_or(result.domain);
  result.sandbox_url = read_base_url(reader, "sandbox_url");
  result.default_template = reader.text("template", {1, 200}).value_or(result.default_template);
  result.region = reader.text("region", {1, 100}).value_or("");
  result.isolation = read_isolation(reader, result.isolation);
  result.limits = read_limits(reader, kE2bLimits);
  reader.finish();
  result.api_key = read_sole_credential(credentials, "api_key", problems);
  return result;
}

}  // namespace

ProviderKind e2b_kind() { return vendor_kind<E2bProvider>("e2b", &read_e2b); }

}  // namespace sandgate
