#pragma once
#include <string>
#include <string_view>

#include "gateway/http/request.hpp"
#include "registry/profile.hpp"
#include "registry/profile_channel.hpp"

// What requests about profiles say. Pure; each throws Error(invalid) with paths.
namespace sandgate::api {

// The document of PUT /v1/profiles/{name}: YAML when the content type says so, else JSON. A
// tenant's profile may not open a directory of the host.
Profile profile_from(const http::Request& request, bool of_tenant);

// ?channel: which channel publishing moves ("stable" when absent); empty for "none".
std::string channel_to_move(const http::Query& query);

// {version, canary?: {version, percent}, shadow?: {version, percent}} and {version}.
ProfileChannel channel_from(const Json& body);
ProfileChannel rollback_from(const Json& body);

// A version's number or a channel's name in a query parameter, which is required.
ProfileReference selector_parameter(const http::Query& query, std::string_view parameter,
                                    const std::string& profile);

}  // namespace sandgate::api
