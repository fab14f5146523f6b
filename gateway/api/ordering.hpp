#pragma once
#include <functional>

#include "gateway/http/routes.hpp"
#include "gateway/sandboxes/creating/create_order.hpp"
#include "gateway/sandboxes/snapshots.hpp"
#include "registry/profile_resolver.hpp"

namespace sandgate::api {

// Completes the body of a create for the version of the profile that it takes, a channel's or its
// canary's, or throws Error.
using FitToProfile = std::function<void(const Profile& profile, Json& body)>;

// Resolves the body of a create against the profile that it names, after `fit` (if any). Throws
// Error for what the profile does not allow.
Task<CreateOrder> order_from(http::Request& request, Json body, std::string reference,
                             ProfileResolver& profiles, FitToProfile fit = nullptr);
// Makes an order that names a snapshot start from it. Throws Error(not_found) or Error(invalid).
Task<void> follow_snapshot(CreateOrder& order, Snapshots& snapshots);
// Returns the refusal of an order with paths that match the caller's body: problems of secrets that
// the profile lists, rather than the body, point at /profile.
Error with_request_paths(const Error& error, const Json& overrides);

}  // namespace sandgate::api
