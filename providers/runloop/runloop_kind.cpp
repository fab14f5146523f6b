#include "providers/runloop/runloop_kind.hpp"

#include "providers/kind_settings.hpp"
#include "providers/runloop/runloop.hpp"
#include "providers/vendor_kind.hpp"

namespace sandgate {
namespace {

// The largest custom size and the longest keep-alive time.
constexpr DescriptorLimits kRunloopLimits{.max_milli_vcpu = 16'000,
                                          .max_memory_mib = 65'536,
                                          .max_disk_gib = 64,
                                          .max_ttl_seconds = 172'800};

RunloopSettings read_runloop(const Json& settings, const Json& credentials, Problems& problems) {
  RunloopSettings result;
  ObjectReader reader(settings, problems, "/settings");
  result.api_url = read_base_url(reader, "api_url", result.api_url);
  result.rules.blueprint = reader.text("blueprint", {1, 200}).value_or("");
  result.rules.deny_policy = reader.text("deny_policy", {1, 200}).value_or("");
  result.rules.keep_alive_seconds =
      reader.integer("keep_alive_seconds", 60, 172'800).value_or(result.rules.keep_alive_seconds);
  result.limits = read_limits(reader, kRunloopLimits);
  reader.finish();
  result.api_key = read_sole_credential(credentials, "api_key", problems);
  return result;
}

}  // namespace

ProviderKind runloop_kind() { return vendor_kind<RunloopProvider>("runloop", &read_runloop); }

}  // namespace sandgate
