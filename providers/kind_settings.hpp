#pragma once
#include <string>
#include <string_view>

#include "gateway/core/json_reader.hpp"
#include "gateway/core/secret.hpp"
#include "providers/descriptor.hpp"

// Readers of settings that most kinds of backend share. Problems are added to the reader's list.
namespace sandgate {

// Reads an http or https base URL without query, fragment or user info. Strips trailing slashes.
std::string read_base_url(ObjectReader& reader, std::string_view name, std::string fallback = "");
// Adds a problem for each URL among a tenant's settings that names a private address. Host names
// are checked when they are dialled, by the addresses that they resolve to.
void refuse_private_urls(const Json& settings, Problems& problems);
// Reads a required credential of visible ASCII, which is safe in a header.
Secret read_credential(ObjectReader& reader, std::string_view name);
// The same for credentials that consist of this one member.
Secret read_sole_credential(const Json& credentials, std::string_view name, Problems& problems);
// Reads the isolation where only the operator knows it.
Isolation read_isolation(ObjectReader& reader, Isolation fallback);
// Reads `network`, where the vendor's side fixes it for all sandboxes and only the operator knows
// it: `deny` lets nothing out, `allow`, the default, everything. Returns whether it is `deny`.
bool read_network_deny(ObjectReader& reader);
// Reads `limits` {vcpu, memory_mib, disk_gib, ttl_seconds}, which override the vendor's documented
// limits because accounts and templates differ.
DescriptorLimits read_limits(ObjectReader& reader, DescriptorLimits fallback);

}  // namespace sandgate
