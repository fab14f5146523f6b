#include "gateway/sandboxes/creation.hpp"

#include <algorithm>

#include "billing/budgets.hpp"
#include "billing/rating.hpp"
#include "gateway/core/log.hpp"
#include "gateway/core/settle.hpp"
#include "gateway/core/statement.hpp"
#include "gateway/placement/unwanted.hpp"
#include "gateway/sandboxes/given_env.hpp"
#include "gateway/sandboxes/scopes.hpp"
#include "gateway/sandboxes/tenant_admission.hpp"
#include "registry/call_claim.hpp"
#include "registry/secret_store.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::seconds kLeaseSlack{15};  // over the placement's own deadline
constexpr std::chrono::seconds kLateKillPatience{10};
constexpr std::chrono::minutes kUntilRunning{2};
constexpr int kKeepTries = 4;
constexpr std::chrono::milliseconds kKeepPause{250};

SandboxRecord intention(const CreateOrder& order, const Decision& decision) {
  const Profile& profile = order.request.profile;
  SandboxRecord record;
  record.id = SandboxId::make();
  record.tenant = order.tenant;
  record.profile = order.profile;
  record.key = order.key;
  record.profile_version = order.profile_version;
  record.profile_id = order.profile_id;
  record.decision = decision.id;
  record.isolation = profile.isolation;
  record.persistence = profile.persistence;
  record.resources = profile.resources;
  record.metadata = order.request.metadata;
  record.ttl_seconds = profile.ttl_seconds;
  record.max_ttl_seconds = most_ttl(profile).count();
  record.on_expiry = profile.on_expiry;
  record.idle_timeout_seconds = profile.idle_timeout_seconds;
  record.on_idle = profile.on_idle;
  record.auto_resume = profile.auto_resume;
  record.planned = planned(decision);
  return record;
}

// It begins to run, and is rated, somewhat later than it is paid for.
RunCharge most_charged(const PriceSnapshot& prices, const PriceScope& scope,
                       const SandboxRecord& record, Time at, const std::string& currency) {
  return most_to_set_aside(prices, scope, record.resources, at, kUntilRunning,
                           std::chrono::seconds(record.ttl_seconds), currency);
}

// Whether what is made without anybody knowing of it costs nothing but its place on a machine of
// ours, until the sweep ends it.
bool orphans_are_free(const Decision& decision) {
  return std::ranges::all_of(decision.candidates, [](const Candidate& candidate) {
    return !candidate.eligible() || !candidate.deployment->descriptor.machine.empty();
  });
}

// Whoever removed a deployment was told that nobody is on it. The decision may be older.
void hold_candidates(pqxx::work& tx, const TenantId& tenant, const Decision& decision) {
  std::vector<std::string> names;
  for (const Candidate& candidate : decision.candidates)
    if (candidate.eligible() && candidate.deployment->stored)
      names.push_back(candidate.deployment->name);
  if (names.empty() || sandbox_rows::hold_deployments(tx, tenant, names)) return;
  Error error(ErrorCode::unavailable, "a deployment was changed at this moment: try again");
  error.retry_after = std::chrono::seconds(1);
  throw error;
}

bool runs_as(const SandboxRecord& found, const SandboxRecord& placed) {
  return found.state == SandboxState::running && found.backend_id == placed.backend_id &&
         found.deployment == placed.deployment;
}

bool is_refusal(ErrorCode code) {
  return code == ErrorCode::quota_exceeded || code == ErrorCode::rate_limited ||
         code == ErrorCode::budget_exceeded;
}

bool nothing_else_made(const std::vector<Attempt>& attempts) {
  return std::ranges::all_of(attempts, [](const Attempt& attempt) {
    return attempt.outcome == AttemptOutcome::created || attempt.outcome == AttemptOutcome::failed;
  });
}

}  // namespace

CreateSpec spec_of(const EffectiveRequest& request, const SandboxId& id, const TenantId& tenant) {
  const Profile& profile = request.profile;
  return {.sandbox_id = id.value,
          .tenant_id = tenant.value,
          .resources = profile.resources,
          .ttl = std::chrono::seconds(profile.ttl_seconds),
          .env = profile.env,
          .metadata = request.metadata,
          .network = profile.network,
          .workspace = profile.workspace_path,
          .workspace_writable = profile.workspace == Workspace::read_write,
          .allow_root = profile.allow_root,
          .allow_debug = profile.allow_debug};
}

Creation::Creation(const Lifecycle::Parts& parts, CreateOrder order, Decision decision)
    : parts_(parts),
      order_(std::move(order)),
      decision_(std::move(decision)),
      record_(intention(order_, decision_)) {}

// A refusal after the fact costs a sandbox that was made for nothing: not where that is dear (a
// disk to copy), nor where it would show (a scope's one sandbox, secrets that it is given).
bool Creation::may_come_first() const {
  return orphans_are_free(decision_) && order_.scope_key.empty() &&
         order_.snapshot_backend_id.empty() && order_.request.profile.secrets.empty();
}

Task<void> Creation::announce() {
  // The database may come to it after we gave up waiting: what it works on lives as long as it.
  auto write = [self = shared_from_this()](pqxx::work& tx) {
    // The row of what runs is waited for, and takes this one along.
    if (orphans_are_free(self->decision_)) commit_lazily(tx);
    SandboxRecord intention = self->record_;
    self->reserved_ = self->write_row(tx, intention);
  };
  co_await parts_.database.run(std::move(write));
  announced_ = true;
}

Task<SandboxRecord> Creation::run() {
  const auto head_start =
      may_come_first() ? parts_.head_starts->take(order_.tenant, record_.id) : nullptr;
  if (!head_start) co_await announce();
  placing_since_ = std::chrono::steady_clock::now();
  const Error another(ErrorCode::unavailable, "the backend answered with another's sandbox");
  for (;;) {
    Decision open = rest();
    CreateSpec wanted = spec();
    Placement placement = co_await place(std::move(open), std::move(wanted), parts_.board);
    const bool tried = !placement.attempts.empty();
    std::ranges::move(placement.attempts, std::back_inserter(decision_.attempts));
    if (!placement.placed) {
      const Error error = tried || decision_.attempts.empty() ? *placement.error : another;
      if (!announced_) co_await announce();
      co_await give_up(error);
      throw error;
    }
    auto kept = co_await keep(*placement.placed);
    if (kept) co_return std::move(*kept);
    refuse(*placement.placed, another);
  }
}

Decision Creation::rest() const {
  Decision left = decision_;
  if (decision_.attempts.empty()) return left;
  std::erase_if(left.candidates, [&](const Candidate& candidate) {
    return std::ranges::any_of(decision_.attempts, [&](const Attempt& attempt) {
      return attempt.deployment == candidate.deployment->name;
    });
  });
  Fallback& fallback = left.requirements.placement.fallback;
  fallback.attempts -= static_cast<int64_t>(decision_.attempts.size());
  const auto passed = std::chrono::steady_clock::now() - placing_since_;
  fallback.deadline_ms -= std::chrono::duration_cast<std::chrono::milliseconds>(passed).count();
  return left;
}

void Creation::refuse(const Placed& placed, const Error& error) {
  log::error("a backend answered two creates with one sandbox",
             {{"sandbox", record_.id.value},
              {"deployment", placed.deployment->name},
              {"backend_id", placed.sandbox.backend_id}});
  for (Attempt& attempt : decision_.attempts) {
    if (attempt.outcome != AttemptOutcome::created) continue;
    attempt.outcome = AttemptOutcome::failed;
    attempt.code = error.code;
  }
  parts_.board.failed(placed.deployment->key(), error);
}

bool Creation::write_row(pqxx::work& tx, SandboxRecord& record) {
  order_.one_of_many ? add_effect(tx, order_.claim, record_.id.value)
                     : mark_effect(tx, order_.claim, record_.id.value);
  hold_candidates(tx, order_.tenant, decision_);
  claim_scope(tx, order_.tenant, order_.scope_key);
  admit(tx, order_.tenant, record_.resources);
  const bool reserved = parts_.spend.reserve(tx, record_, highest_charge());
  const std::chrono::milliseconds deadline(decision_.requirements.placement.fallback.deadline_ms);
  const bool own = price_scope_of(parts_.deployments, record).own;
  record = sandbox_rows::insert(
      tx, record, {decision_, deadline + kLeaseSlack, order_.wishes, order_.scope_key, own});
  if (!parts_.vault) return reserved;
  if (!order_.request.profile.secrets.empty())
    secrets_ = sandbox_secrets::bind(tx, *parts_.vault, record_.tenant, record_.id.value,
                                     order_.request.profile.secrets);
  given_env::keep(tx, *parts_.vault, record_.id, order_.env);
  return reserved;
}

RunCharge Creation::start_charge(const SandboxRecord& placed) const {
  const PriceScope scope = price_scope_of(parts_.deployments, placed);
  return most_charged(*parts_.prices.snapshot(), scope, placed, parts_.clock.now(),
                      placed.currency);
}

PlannedCharge Creation::highest_charge() const {
  const auto prices = parts_.prices.snapshot();
  const Time at = parts_.clock.now();
  PlannedCharge highest;
  for (const Candidate& candidate : decision_.candidates) {
    if (!candidate.eligible()) continue;
    const Deployment& one = *candidate.deployment;
    const std::string region = one.region();
    const PriceScope scope{order_.tenant.value, one.provider, one.name, region,
                           one.tenant.has_value()};
    auto charge = charge_per_hour(*prices, scope, record_.resources, at);
    if (!charge) continue;
    const RunCharge most = most_charged(*prices, scope, record_, at, charge->currency);
    // What costs nothing to run is charged in no currency but those of what it may use.
    const bool is_free = charge->amount.is_zero() && most.charge.is_zero();
    const std::string currency = is_free ? std::string() : charge->currency;
    highest.other_currencies.merge(other_currencies(*prices, scope, at, currency));
    if (is_free) continue;
    if (!highest.most || most.charge > highest.most->charge) highest.most = most;
    if (highest.per_hour && highest.per_hour->currency != charge->currency)
      highest.other_currencies.insert({highest.per_hour->currency, charge->currency});
    if (!highest.per_hour || charge->amount > highest.per_hour->amount)
      highest.per_hour = std::move(charge);
  }
  return highest;
}

CreateSpec Creation::spec() const {
  CreateSpec spec = spec_of(order_.request, record_.id, record_.tenant);
  spec.installation = parts_.installation->id();
  spec.passed = order_.passed;
  for (const SecretGrant& grant : secrets_.grants) spec.env[grant.name] = grant.placeholder;
  spec.secrets = secrets_;
  spec.snapshot = order_.snapshot_backend_id;
  return spec;
}

SandboxRecord Creation::placed_record(const Placed& placed) const {
  SandboxRecord record = record_;
  record.state = SandboxState::running;
  const Deployment& deployment = *placed.deployment;
  record.deployment = deployment.name;
  record.provider = deployment.provider;
  record.backend_id = placed.sandbox.backend_id;
  record.isolation = placed.sandbox.isolation;
  record.region = placed.sandbox.region.empty() ? deployment.region() : placed.sandbox.region;
  const auto prices = parts_.prices.snapshot();
  const PriceScope scope{record.tenant.value, record.provider, record.deployment, record.region,
                         deployment.tenant.has_value()};
  const Time now = parts_.clock.now();
  const auto charge = charge_per_hour(*prices, scope, record.resources, now);
  if (charge) {
    record.charge_per_hour = charge->amount.to_string();
    record.currency = charge->currency;
    record.other_currencies = other_currencies(*prices, scope, now, charge->currency);
  }
  return record;
}

std::optional<SandboxRecord> Creation::write_placed(pqxx::work& tx, const SandboxRecord& placed) {
  const bool own = price_scope_of(parts_.deployments, placed).own;
  if (!announced_) {
    SandboxRecord running = placed;
    const bool reserved = write_row(tx, running);
    begin_charge(tx, running, own, reserved);
    // A server that stood still may come to this long after the sandbox was ended.
    if (given_up_) throw Error(ErrorCode::unavailable, "the create was given up");
    return running;
  }
  const auto running = sandbox_rows::set_running(tx, placed, own, decision_.attempts);
  if (!running) {
    // The commit of an earlier try may have gone through although its answer was lost.
    const auto found = sandbox_rows::find(tx, placed.id);
    if (!found) throw Error(ErrorCode::unavailable, "the database lost the sandbox in a crash");
    return runs_as(*found, placed) ? found : std::nullopt;
  }
  begin_charge(tx, *running, own, reserved_);
  return running;
}

void Creation::begin_charge(pqxx::work& tx, const SandboxRecord& running, bool own,
                            bool reserved) const {
  if (reserved) parts_.spend.adjust(tx, running, start_charge(running));
  parts_.meter.open(tx, {.id = running.id,
                         .tenant = running.tenant,
                         .profile = running.profile,
                         .profile_version = running.profile_version,
                         .deployment = running.deployment,
                         .provider = running.provider,
                         .region = running.region,
                         .resources = running.resources,
                         .metadata = running.metadata,
                         .key = record_.key,
                         .own = own});
}

Task<std::optional<SandboxRecord>> Creation::keep(const Placed& placed) {
  const SandboxRecord wanted = placed_record(placed);
  Error reason(ErrorCode::conflict, "the sandbox was ended while it was being created");
  for (int tries = 1; tries <= kKeepTries; ++tries) {
    const auto mark = parts_.cache.mark_of(wanted.id);
    auto write = [self = shared_from_this(), wanted](pqxx::work& tx) {
      return self->write_placed(tx, wanted);
    };
    auto writing = parts_.database.run(std::move(write));
    auto outcome = co_await attempt(std::move(writing));
    if (auto* written = std::get_if<std::optional<SandboxRecord>>(&outcome)) {
      if (!*written) break;
      parts_.cache.remember(**written, mark);
      co_return **written;
    }
    reason = std::get<Error>(outcome);
    if (sandbox_rows::is_taken(reason)) co_return std::nullopt;
    // Nobody was told of one without a row: that it is refused at once is what is expected then.
    if (reason.code != ErrorCode::unavailable || !announced_) break;
    if (tries < kKeepTries) co_await sleep_for(kKeepPause);
  }
  given_up_ = true;
  if (is_refusal(reason.code)) parts_.head_starts->refused(order_.tenant);
  if (reason.code == ErrorCode::unavailable) parts_.head_starts->not_written();
  co_await undo(placed, reason);
  throw reason;
}

Task<void> Creation::undo(const Placed& placed, const Error& reason) {
  log::warn("a new sandbox is not kept",
            {{"sandbox", record_.id.value}, {"reason", reason.what()}});
  const bool unknown = reason.code == ErrorCode::unavailable && parts_.outage;
  EndIntention intention{.tenant = record_.tenant,
                         .sandbox = record_.id,
                         .at = Meter::kNeverBegan,
                         .reason = "failed",
                         .failure = SandboxFailure{"unavailable", reason.what()}};
  if (unknown) {
    auto remembering = parts_.outage->remember(intention);
    co_await attempt(std::move(remembering));
    parts_.cache.forget(record_.id);
  }
  auto ending = end_unwanted(placed.deployment, placed.sandbox.backend_id, record_.id.value);
  const auto ended = co_await attempt_within(kLateKillPatience, std::move(ending));
  const auto* error = std::get_if<Error>(&ended);
  // The reaper kills what this does not, and what other attempts may have made.
  if (!unknown || !nothing_else_made(decision_.attempts)) co_return;
  if (error && error->code != ErrorCode::not_found) co_return;
  intention.gone_at = parts_.clock.now();
  auto noting = parts_.outage->remember(std::move(intention));
  co_await attempt(std::move(noting));
}

Task<void> Creation::give_up(const Error& error) {
  const SandboxFailure failure{std::string(to_string(error.code)), error.what()};
  auto work = [self = shared_from_this(), failure](pqxx::work& tx) {
    const SandboxId& id = self->record_.id;
    if (sandbox_rows::set_not_created(tx, id, failure, self->decision_.attempts))
      self->parts_.spend.settle(tx, id);
  };
  const auto outcome = co_await attempt(parts_.database.run(std::move(work)));
  // The row stays `creating` until its lease ends; then the reaper gives it up.
  if (const auto* unwritten = std::get_if<Error>(&outcome))
    log::warn("a failed create was not recorded",
              {{"sandbox", record_.id.value}, {"reason", unwritten->what()}});
}

}  // namespace sandgate
