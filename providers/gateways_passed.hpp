#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace sandgate {

// The installations that sent a create on, each to the next, the client's own first. A gateway that
// finds itself among them is a backend of its own.
using GatewaysPassed = std::vector<std::string>;

// "X-Sandgate-Via: <id>, <id>": one field, ids of [a-z0-9].
inline constexpr const char* kViaHeader = "X-Sandgate-Via";

std::string via_of(const GatewaysPassed& passed);
// Throws Error(invalid) for what via_of does not write.
GatewaysPassed passed_from(std::string_view header);

// Throws Error(unsupported) where `installation` is one of them, or there are eight: what each adds
// to a create's time is too much by then, however the gateways are connected.
void check_goes_on(const GatewaysPassed& passed, std::string_view installation);

}  // namespace sandgate
