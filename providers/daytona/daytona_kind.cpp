#include "providers/daytona/daytona_kind.hpp"

#include "providers/daytona/daytona.hpp"
#include "providers/kind_settings.hpp"
#include "providers/vendor_kind.hpp"

namespace sandgate {
namespace {

// The vendor's limits for one sandbox unless support raises them.
constexpr DescriptorLimits kDaytonaLimits{
    .max_milli_vcpu = 4000, .max_memory_mib = 8192, .max_disk_gib = 10};

DaytonaSettings read_daytona(const Json& settings, const Json& credentials, Problems& problems) {
  DaytonaSettings result;
  ObjectReader reader(settings, problems, "/settings");
  result.api_url = read_base_url(reader, "api_url", result.api_url);
  result.rules.snapshot = reader.text("snapshot", {1, 200}).value_or("");
  result.rules.target = reader.text("target", {1, 100}).value_or("");
  result.limits = read_limits(reader, kDaytonaLimits);
  result.process_limit = reader.boolean("process_limit").value_or(false);
  reader.finish();
  result.api_key = read_sole_credential(credentials, "api_key", problems);
  return result;
}

}  // namespace

ProviderKind daytona_kind() { return vendor_kind<DaytonaProvider>("daytona", &read_daytona); }

}  // namespace sandgate
