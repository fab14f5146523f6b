#pragma once
#include <string>
#include <string_view>

#include "gateway/http/request.hpp"
#include "registry/profile.hpp"
#include "registry/profile_channel.hpp"

// Parsers of requests about profiles. Pure; they throw Error(invalid) with paths.
namespace sandgate::api {

// Parses the body of PUT /v1/profiles/{name}: YAML if the content type says so, else JSON. A
// tenant's profile must not open a directory of the host.
Profile profile_from(const http::Request& request, bool of_tenant);

// ?channel: the channel that a publish moves (default "stable"); "" for "none".
std::string channel_to_move(const http::Query& query);

// Bodies {version, canary?: {version, percent}, shadow?: {version, percent}} and {version}.
ProfileChannel channel_from(const Json& body);
ProfileChannel rollback_from(const Json& body);

// Reads a required query parameter that is a version number or a channel's name.
ProfileReference selector_parameter(const http::Query& query, std::string_view parameter,
                                    const std::string& profile);

}  // namespace sandgate::api
