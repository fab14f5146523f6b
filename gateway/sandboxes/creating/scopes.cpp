#include "gateway/sandboxes/creating/scopes.hpp"

#include "gateway/core/crypto.hpp"
#include "gateway/core/statement.hpp"
#include "gateway/sandboxes/access.hpp"
#include "gateway/sandboxes/upkeep/elsewhere.hpp"

namespace sandgate {
namespace {

constexpr int kMeetings = 5;  // a try fails only when a concurrent create or end interferes
constexpr std::chrono::milliseconds kMeetingPause{20};
constexpr std::chrono::seconds kMeetingTimeout{30};

std::optional<SandboxRecord> in_scope(pqxx::work& tx, const TenantId& tenant,
                                      const std::string& key) {
  static const std::string kSql =
      "SELECT " + sandbox_rows::columns() +
      " FROM sandbox WHERE tenant = $1 AND scope_key = $2 AND scope_key <> ''"
      " AND ended_at IS NULL AND state <> 'stopping'";
  return sandbox_rows::first_of(run_prepared(tx, kSql, tenant.value, key));
}

}  // namespace

std::string scope_key_of(const CreateOrder& order) {
  Profile profile = order.request.profile;
  if (profile.scope == Scope::session || order.request.snapshot) return "";
  std::string agent;
  if (profile.scope == Scope::agent) {
    const auto found = order.request.metadata.find("agent");
    if (found == order.request.metadata.end() || found->second.empty())
      throw Error::invalid("/metadata/agent", "is required by the profile's scope");
    agent = found->second;
  }
  // Sandboxes of one scope may differ in their lifetime.
  profile.ttl_seconds = profile.idle_timeout_seconds = 0;
  profile.limits.max_ttl_seconds.reset();
  const Json common = {order.profile, order.profile_version, content_hash(profile), agent};
  return sha256_hex(common.dump());
}

void claim_scope(pqxx::work& tx, const TenantId& tenant, const std::string& key) {
  if (key.empty()) return;
  // A separate statement sees the rows committed before the lock was granted.
  run_prepared(tx, "SELECT pg_advisory_xact_lock(hashtextextended('scope/' || $1, 0))",
               tenant.value + "/" + key);
  if (in_scope(tx, tenant, key))
    throw Error(ErrorCode::conflict, "a sandbox of this scope has just been made");
}

// Waits while the sandbox is being created; empty when there is none.
Task<std::optional<SandboxRecord>> Scopes::join(TenantId tenant, std::string key) {
  const auto limit = std::chrono::steady_clock::now() + kMeetingTimeout;
  for (;;) {
    auto read = [tenant, key](pqxx::work& tx) { return in_scope(tx, tenant, key); };
    auto found = co_await lifecycle_.parts().database.run(std::move(read));
    if (found && !found->backend_id.empty())
      check_is_here(found->id.value, found->backend_id,
                    lifecycle_.deployment_of(*found)->descriptor);
    if (!found || found->state == SandboxState::running) co_return found;
    if (found->state != SandboxState::creating)
      co_return co_await pausing_.resume(tenant, found->id);
    if (std::chrono::steady_clock::now() > limit)
      throw Error(ErrorCode::timeout, "the sandbox of this scope is still being made");
    co_await sleep_for(kMeetingPause);
  }
}

Task<Scopes::Joined> Scopes::create(CreateOrder order) {
  if (order.scope_key.empty()) {
    SandboxRecord made = co_await lifecycle_.create(std::move(order));
    co_return Joined{.sandbox = std::move(made), .made = true};
  }
  for (int meeting = 1;; ++meeting) {
    auto joining = join(order.tenant, order.scope_key);
    auto met = co_await attempt(std::move(joining));
    if (const auto* failure = std::get_if<Error>(&met)) {
      // One that ends while it is resumed is not shared: the next takes its place.
      if (!says_ended(*failure) || meeting == kMeetings) throw *failure;
      continue;
    }
    auto& there = std::get<std::optional<SandboxRecord>>(met);
    if (there) co_return Joined{.sandbox = std::move(*there)};
    auto creating = lifecycle_.create(order);
    auto outcome = co_await attempt(std::move(creating));
    if (auto* made = std::get_if<SandboxRecord>(&outcome))
      co_return Joined{.sandbox = std::move(*made), .made = true};
    const Error& error = std::get<Error>(outcome);
    if (error.code != ErrorCode::conflict || meeting == kMeetings) throw error;
  }
}

}  // namespace sandgate
