#include "providers/agentcore/agentcore_runtime_kind.hpp"

#include "providers/agentcore/agentcore_runtime.hpp"
#include "providers/kind_settings.hpp"
#include "providers/vendor_kind.hpp"

namespace sandgate {
namespace {

// The fixed size of a microVM session, and the vendor's longest session.
constexpr DescriptorLimits kRuntimeLimits{
    .max_milli_vcpu = 2000, .max_memory_mib = 8192, .max_disk_gib = 2, .max_ttl_seconds = 28'800};

AgentcoreRuntimeSettings read_agentcore_runtime(const Json& settings, const Json& credentials,
                                                Problems& problems) {
  AgentcoreRuntimeSettings result;
  ObjectReader reader(settings, problems, "/settings");
  reader.require("runtime");
  if (const auto text = reader.text("runtime", {1, 256})) {
    const auto arn = agentcore_runtime::to_arn(*text);
    if (!arn) reader.problem("runtime", "must be the ARN of an agent runtime");
    result.runtime = arn.value_or(agentcore_runtime::Arn{});
  }
  const std::string host = "." + result.runtime.region + ".amazonaws.com";
  result.qualifier = reader.text("qualifier", {1, 100}).value_or("DEFAULT");
  result.api_url = read_base_url(reader, "api_url", "https://bedrock-agentcore" + host);
  result.control_url =
      read_base_url(reader, "control_url", "https://bedrock-agentcore-control" + host);
  result.network_deny = read_network_deny(reader);
  result.limits = read_limits(reader, kRuntimeLimits);
  reader.finish();
  result.keys = read_aws_keys(credentials, problems);
  return result;
}

}  // namespace

ProviderKind agentcore_runtime_kind() {
  return vendor_kind<AgentcoreRuntimeProvider>("agentcore_runtime", &read_agentcore_runtime);
}

}  // namespace sandgate
