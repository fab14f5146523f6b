#include "gateway/api/ordering.hpp"

#include "registry/document_fields.hpp"
#include "registry/profile_channel.hpp"

namespace sandgate::api {
namespace {

// metadata.session pins a session to the same side of a canary. The body is validated later.
std::map<std::string, std::string> session_of(const Json& body) {
  const auto metadata = body.find("metadata");
  if (metadata == body.end() || !metadata->is_object()) return {};
  const auto session = metadata->find("session");
  if (session == metadata->end() || !session->is_string()) return {};
  return {{"session", session->get<std::string>()}};
}

// `body` was validated by merge().
std::map<std::string, std::string> env_of(const Json& body) {
  Problems none;
  ObjectReader reader(body, none);
  return read_env(reader, none).value_or(std::map<std::string, std::string>());
}

// The overrides that copies of the sandbox inherit, without values and without what the row holds.
Json overrides_of(Json body) {
  for (const char* name : {"profile", "env", "metadata", "snapshot"}) body.erase(name);
  return body;
}

std::optional<int64_t> disk_wish(const Json& overrides) {
  const auto resources = overrides.find("resources");
  if (resources == overrides.end() || !resources->is_object()) return std::nullopt;
  const auto disk = resources->find("disk_gib");
  return disk == resources->end() || disk->is_null() ? std::nullopt
                                                     : std::optional(disk->get<int64_t>());
}

std::optional<ShadowOrder> shadow_of(const ResolvedProfile& resolved, const Json& body) {
  if (!resolved.shadow) return std::nullopt;
  ShadowOrder shadow{.version = static_cast<int>(resolved.shadow_version)};
  try {
    shadow.request = merge(*resolved.shadow, body);
  } catch (const Error&) {
    // The shadow's refusal is recorded, but must not fail the create.
  }
  return shadow;
}

}  // namespace

Task<CreateOrder> order_from(http::Request& request, Json body, std::string reference,
                             ProfileResolver& profiles, FitToProfile fit) {
  const auto key = request.headers.find("Idempotency-Key");
  const std::string stickiness = stickiness_of(session_of(body), key.value_or(""));
  const auto resolved =
      co_await profiles.resolve(request.tenant(), std::move(reference), stickiness);
  if (fit) fit(*resolved.profile, body);
  auto shadow = shadow_of(resolved, body);
  co_return CreateOrder{.tenant = request.tenant(),
                        .profile = resolved.name,
                        .profile_version = static_cast<int>(resolved.version),
                        .profile_id = resolved.id,
                        .request = merge(*resolved.profile, body),
                        .request_id = request.id,
                        .env = env_of(body),
                        .overrides = overrides_of(std::move(body)),
                        .key = request.caller.key_id,
                        .claim = request.claim,
                        .shadow = std::move(shadow)};
}

Task<void> follow_snapshot(CreateOrder& order, Snapshots& snapshots) {
  if (!order.request.snapshot) co_return;
  const auto snapshot = co_await snapshots.find(order.tenant, *order.request.snapshot);
  const auto disk = disk_wish(order.overrides);
  co_await snapshots.restore_from(order, snapshot, disk);
}

Error with_request_paths(const Error& error, const Json& overrides) {
  const auto listed = overrides.find("secrets");
  const bool is_listed = listed != overrides.end() && !listed->is_null();
  if (is_listed || error.fields.empty() || !error.fields.front().path.starts_with("/secrets/"))
    return error;
  return Error::invalid("/profile", error.fields.front().message);
}

}  // namespace sandgate::api
