#include "providers/opensandbox/opensandbox_kind.hpp"

#include "providers/kind_settings.hpp"
#include "providers/opensandbox/opensandbox.hpp"
#include "providers/vendor_kind.hpp"

namespace sandgate {
namespace {

// A mid-size machine; the operator sets `limits` to the server's own.
constexpr DescriptorLimits kOpenSandboxLimits{
    .max_milli_vcpu = 8000, .max_memory_mib = 32'768, .max_disk_gib = 50};

OpenSandboxSettings read_opensandbox(const Json& settings, const Json& credentials,
                                     Problems& problems) {
  OpenSandboxSettings result;
  ObjectReader reader(settings, problems, "/settings");
  reader.require("api_url");
  result.api_url = read_base_url(reader, "api_url");
  const std::string scheme = result.api_url.substr(0, result.api_url.find(':'));
  result.sandbox_scheme = reader.word("sandbox_scheme", {"http", "https"}).value_or(scheme);
  result.use_server_proxy = reader.boolean("use_server_proxy").value_or(false);
  auto& rules = result.rules;
  rules.image = reader.text("image", {1, 500}).value_or(rules.image);
  const auto keeps = reader.word("pause_keeps", {"memory", "disk"});
  if (keeps) rules.paused = *keeps_from(*keeps);
  rules.isolation = read_isolation(reader, rules.isolation);
  rules.egress_enforced = reader.boolean("egress_enforced").value_or(false);
  rules.secure_access = reader.boolean("secure_access").value_or(false);
  rules.region = reader.text("region", {1, 100}).value_or("");
  result.process_limit = reader.boolean("process_limit").value_or(false);
  result.disk_limit = reader.boolean("disk_limit").value_or(false);
  result.limits = read_limits(reader, kOpenSandboxLimits);
  reader.finish();
  result.api_key = read_sole_credential(credentials, "api_key", problems);
  return result;
}

}  // namespace

ProviderKind opensandbox_kind() {
  return vendor_kind<OpenSandboxProvider>("opensandbox", &read_opensandbox);
}

}  // namespace sandgate
