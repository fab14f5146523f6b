#include "registry/document_fields.hpp"

#include <algorithm>
#include <set>

#include "gateway/core/decimal.hpp"
#include "gateway/core/field_text.hpp"
#include "gateway/core/network_rule.hpp"

namespace sandgate {
namespace {

constexpr size_t kMaxEnv = 256, kMaxEnvValue = 32 * 1024;
constexpr size_t kMaxRules = 256, kMaxNames = 256;
// Headers that frame messages, or that the egress process sets.
constexpr std::string_view kFramingHeaders[] = {"connection",       "content-length",
                                                "expect",           "host",
                                                "keep-alive",       "te",
                                                "trailer",          "upgrade",
                                                "proxy-connection", "transfer-encoding",
                                                "http2-settings",   "accept-encoding"};
// Headers that servers commonly display or log.
constexpr std::string_view kNotedHeaders[] = {"user-agent",
                                              "referer",
                                              "origin",
                                              "from",
                                              "via",
                                              "forwarded",
                                              "traceparent",
                                              "tracestate",
                                              "baggage",
                                              "x-request-id",
                                              "x-trace-id",
                                              "x-real-ip",
                                              "x-amzn-trace-id",
                                              "x-correlation-id",
                                              "x-cloud-trace-context",
                                              "uber-trace-id",
                                              "date",
                                              "x-client-ip",
                                              "true-client-ip"};
constexpr std::string_view kNotedHeaderStarts[] = {"x-forwarded-", "x-b3-", "x-datadog-", "cf-",
                                                   "sec-"};

bool is_lower_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_reserved_header(std::string_view lower) {
  return std::ranges::count(kFramingHeaders, lower) > 0 ||
         std::ranges::count(kNotedHeaders, lower) > 0 ||
         std::ranges::any_of(kNotedHeaderStarts,
                             [&](std::string_view start) { return lower.starts_with(start); });
}

}  // namespace

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 63 && is_lower_or_digit(text.front()) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return is_lower_or_digit(c) || c == '.' || c == '_' || c == '-';
         });
}

bool is_env_name(std::string_view text) {
  return !text.empty() && text.size() <= 128 && !is_digit(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
}

bool is_image(std::string_view text) {
  return !text.empty() && text.size() <= 512 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

bool is_header_name(std::string_view text) {
  if (text.empty() || text.size() > 128) return false;
  return !is_reserved_header(ascii_lower(text)) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return is_letter(c) || is_digit(c) ||
                  std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
         });
}

Resources ResourceFields::over(const Resources& base) const {
  return {.milli_vcpu = milli_vcpu.value_or(base.milli_vcpu),
          .memory_mib = memory_mib.value_or(base.memory_mib),
          .disk_gib = disk_gib.value_or(base.disk_gib),
          .processes = processes.value_or(base.processes)};
}

std::optional<std::string> read_image(ObjectReader& reader) {
  const auto image = reader.text("image", {.min = 1, .max = 512});
  if (image && !is_image(*image)) reader.problem("image", "must be printable without spaces");
  return image;
}

std::optional<std::map<std::string, std::string>> read_env(ObjectReader& reader,
                                                           Problems& problems) {
  auto env = reader.text_map("env", kMaxEnv, {.max = kMaxEnvValue});
  if (!env) return std::nullopt;
  check_env_names(*env, reader, problems);
  return env;
}

void check_env_names(const std::map<std::string, std::string>& env, const ObjectReader& reader,
                     Problems& problems) {
  for (const auto& [name, value] : env)
    if (!is_env_name(name))
      problems.add(reader.path_of("env") + "/" + pointer_token(name),
                   "must match [A-Za-z_][A-Za-z0-9_]{0,127}");
}

std::optional<ResourceFields> read_resource_fields(ObjectReader& parent, Problems& problems) {
  const Json* object = parent.object("resources");
  if (!object) return std::nullopt;
  ObjectReader reader(*object, problems, parent.path_of("resources"));
  ResourceFields fields;
  fields.milli_vcpu = reader.quarter_steps("vcpu", 250, kMaxMilliVcpu);
  fields.memory_mib = reader.integer("memory_mib", kMinMemoryMib, kMaxMemoryMib);
  fields.disk_gib = reader.integer("disk_gib", 1, kMaxDiskGib);
  fields.processes = reader.integer("processes", 1, kMaxProcesses);
  reader.finish();
  return fields;
}

std::optional<NetworkFields> read_network_fields(ObjectReader& parent, Problems& problems) {
  const Json* object = parent.object("network");
  if (!object) return std::nullopt;
  ObjectReader reader(*object, problems, parent.path_of("network"));
  NetworkFields fields;
  fields.fallback = reader.word("default", kNetworkDefaultWords);
  if (const Json* list = reader.array("allow", kMaxRules)) {
    fields.allow.emplace();
    for (size_t i = 0; i < list->size(); ++i) {
      const Json& item = (*list)[i];
      const auto rule =
          item.is_string() ? network_rule_from(item.get_ref<const std::string&>()) : std::nullopt;
      if (rule)
        fields.allow->push_back(to_string(*rule));
      else
        reader.item_problem(
            "allow", i,
            "must be \"host:port\" with a port from 1 to 65535; the host is an ASCII "
            "name that may begin with \"*.\", or an address or CIDR block");
    }
  }
  reader.finish();
  return fields;
}

std::optional<std::vector<std::string>> read_names(ObjectReader& reader, std::string_view name) {
  auto names = reader.texts(name, kMaxNames, {.min = 1, .max = 63});
  if (!names) return std::nullopt;
  std::set<std::string> seen;
  for (size_t i = 0; i < names->size(); ++i) {
    const std::string& item = (*names)[i];
    if (!is_name(item)) reader.item_problem(name, i, "'" + item + "' is not a name");
    if (!seen.insert(item).second) reader.item_problem(name, i, "'" + item + "' appears twice");
  }
  return names;
}

std::optional<std::string> read_price(ObjectReader& reader, std::string_view name) {
  const Json* member = reader.any(name);
  if (!member) return std::nullopt;
  const auto* text = member->get_ptr<const std::string*>();
  const auto price = text ? Decimal::parse(*text) : std::nullopt;
  if (price && !price->is_zero()) return *text;
  reader.problem(name,
                 "must be a decimal above 0 in quotes, like \"0.20\", with at most 18 digits on"
                 " either side of the point");
  return std::nullopt;
}

}  // namespace sandgate
