#pragma once
#include <string>
#include <string_view>

#include "gateway/core/json_reader.hpp"
#include "gateway/core/secret.hpp"
#include "providers/descriptor.hpp"

// The settings that most kinds of backend share. Mistakes are added to the reader's problems.
namespace sandgate {

// An http or https base URL without query or account, without a slash at its end.
std::string read_base_url(ObjectReader& reader, std::string_view name, std::string fallback = "");
// A credential: required, visible ASCII, so that it cannot end a header.
Secret read_credential(ObjectReader& reader, std::string_view name);
// The same of credentials that are this one alone.
Secret read_sole_credential(const Json& credentials, std::string_view name, Problems& problems);
// How sandboxes are walled off where the operator alone knows it.
Isolation read_isolation(ObjectReader& reader, Isolation fallback);
// Numbers of `limits` {vcpu, memory_mib, disk_gib, ttl_seconds} over what the vendor documents:
// accounts and templates differ.
DescriptorLimits read_limits(ObjectReader& reader, DescriptorLimits fallback);

}  // namespace sandgate
