#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/core/json_reader.hpp"
#include "providers/sandbox.hpp"

// Readers of the fields that profile documents and create requests share.
namespace sandgate {

inline constexpr int64_t kMaxMilliVcpu = 1'024'000;
inline constexpr int64_t kMinMemoryMib = 16, kMaxMemoryMib = int64_t{32} << 20;
inline constexpr int64_t kMaxDiskGib = int64_t{1} << 20;
inline constexpr int64_t kMaxProcesses = 1 << 22;
inline constexpr int64_t kMaxSeconds = int64_t{365} * 24 * 3600;  // of a TTL or an idle timeout

// Names of profiles, channels, providers and deployments.
bool is_name(std::string_view text);
inline constexpr const char* kNameRule = "the name must match [a-z0-9][a-z0-9._-]{0,62}";
// Names of environment variables and of secrets: [A-Za-z_][A-Za-z0-9_]{0,127}.
bool is_env_name(std::string_view text);
// 1 to 512 printable ASCII bytes without spaces.
bool is_image(std::string_view text);
// A header that may carry a secret: an HTTP token of at most 128 bytes, except headers for framing
// and those that servers commonly log or forward (Referer, X-Forwarded-*, tracing).
bool is_header_name(std::string_view text);

// The members of `resources` that were given. over() takes the others from a base.
struct ResourceFields {
  std::optional<int64_t> milli_vcpu, memory_mib, disk_gib, processes;
  Resources over(const Resources& base) const;
};

// The members of `network`; rules are valid and in canonical form.
struct NetworkFields {
  std::optional<NetworkDefault> fallback;
  std::optional<std::vector<std::string>> allow;
};

// Each returns empty when the member is absent, and adds errors to the reader's Problems.
std::optional<std::string> read_image(ObjectReader& reader);
std::optional<std::map<std::string, std::string>> read_env(ObjectReader& reader,
                                                           Problems& problems);
// Adds a problem for each name in `env` that is_env_name() refuses. `reader` supplies the path.
void check_env_names(const std::map<std::string, std::string>& env, const ObjectReader& reader,
                     Problems& problems);
std::optional<ResourceFields> read_resource_fields(ObjectReader& reader, Problems& problems);
std::optional<NetworkFields> read_network_fields(ObjectReader& reader, Problems& problems);
// A list of deployment names without repetitions.
std::optional<std::vector<std::string>> read_names(ObjectReader& reader, std::string_view name);
// An exact decimal above zero, as a string.
std::optional<std::string> read_price(ObjectReader& reader, std::string_view name);

}  // namespace sandgate
