#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace sandgate {

// Ids of the gateways that forwarded a create, in order, starting with the client's own. A gateway
// that finds its own id in the list is part of a forwarding loop.
using ForwardingPath = std::vector<std::string>;

// "X-Sandgate-Via: <id>, <id>"; ids are of [a-z0-9], at most 64 characters.
inline constexpr const char* kViaHeader = "X-Sandgate-Via";

std::string via_of(const ForwardingPath& path);
// Throws Error(invalid) unless `header` has the form that via_of writes.
ForwardingPath forwarding_path_from(std::string_view header);

// Throws Error(unsupported) if `installation` is in the list (a loop) or the list has eight
// entries, which bounds the latency that each gateway adds.
void check_can_forward(const ForwardingPath& path, std::string_view installation);

}  // namespace sandgate
