#pragma once
#include "gateway/http/routes.hpp"
#include "gateway/sandboxes/create_order.hpp"
#include "gateway/sandboxes/snapshots.hpp"
#include "registry/profile_resolver.hpp"

namespace sandgate::api {

// The body of a create resolved against the profile it names. Throws what the profile does not
// allow.
Task<CreateOrder> order_from(http::Request& request, Json body, std::string reference,
                             ProfileResolver& profiles);
// Lets an order that names a snapshot start from it. Throws Error(not_found or invalid).
Task<void> follow_snapshot(CreateOrder& order, Snapshots& snapshots);
// The refusal of an order, at what its caller wrote: who lists no secrets gets the profile's, and
// there is no member of the body to point at.
Error as_asked(const Error& error, const Json& wishes);

}  // namespace sandgate::api
