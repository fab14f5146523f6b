#include "providers/agentcore/agentcore_kind.hpp"

#include <algorithm>
#include <cctype>

#include "providers/agentcore/agentcore.hpp"
#include "providers/kind_settings.hpp"
#include "providers/vendor_kind.hpp"

namespace sandgate {
namespace {

// The fixed size of every session, and the vendor's longest session.
constexpr DescriptorLimits kAgentcoreLimits{
    .max_milli_vcpu = 2000, .max_memory_mib = 8192, .max_disk_gib = 2, .max_ttl_seconds = 28'800};

// Only characters that need no escapes in a path, so that the signed path is the path sent.
bool is_agentcore_word(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '.' || c == '-' || c == '_';
  });
}

std::string read_agentcore_word(ObjectReader& reader, std::string_view name, std::string fallback) {
  const std::string text = reader.text(name, {1, 100}).value_or(std::move(fallback));
  if (!is_agentcore_word(text)) reader.problem(name, "must be letters, digits, '.', '-' and '_'");
  return text;
}

AgentcoreSettings read_agentcore(const Json& settings, const Json& credentials,
                                 Problems& problems) {
  AgentcoreSettings result;
  ObjectReader reader(settings, problems, "/settings");
  reader.require("region");
  result.region = read_agentcore_word(reader, "region", "");
  result.api_url = read_base_url(reader, "api_url",
                                 "https://bedrock-agentcore." + result.region + ".amazonaws.com");
  result.rules.interpreter = read_agentcore_word(reader, "interpreter", result.rules.interpreter);
  result.rules.is_open = !read_network_deny(reader);
  result.rules.keep_alive_seconds =
      reader.integer("keep_alive_seconds", 60, 28'800).value_or(result.rules.keep_alive_seconds);
  result.limits = read_limits(reader, kAgentcoreLimits);
  reader.finish();
  result.keys = read_aws_keys(credentials, problems);
  return result;
}

}  // namespace

ProviderKind agentcore_kind() {
  return vendor_kind<AgentcoreProvider>("agentcore", &read_agentcore);
}

}  // namespace sandgate
