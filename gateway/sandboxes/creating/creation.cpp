#include "gateway/sandboxes/creating/creation.hpp"

#include <algorithm>

#include "billing/prices/rating.hpp"
#include "gateway/core/log.hpp"
#include "gateway/core/settle.hpp"
#include "gateway/core/statement.hpp"
#include "gateway/placement/rank.hpp"
#include "gateway/sandboxes/creating/creation_charge.hpp"
#include "gateway/sandboxes/upkeep/orphans.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::seconds kLateKillTimeout{10};
constexpr int kKeepTries = 4;
// Creates of one tenant use at most this part of the connections.
constexpr size_t kShareOfTenant = 2;
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
  record.max_ttl_seconds = max_ttl(profile).count();
  record.on_expiry = profile.on_expiry;
  record.idle_timeout_seconds = profile.idle_timeout_seconds;
  record.on_idle = profile.on_idle;
  record.auto_resume = profile.auto_resume;
  record.planned = planned(decision);
  return record;
}

// Whether a sandbox without a row costs nothing but its place on our own machine, until the
// reconciler ends it.
bool orphans_are_free(const Decision& decision) {
  return std::ranges::all_of(decision.candidates, [](const Candidate& candidate) {
    return !candidate.eligible() || !candidate.deployment->descriptor.machine.empty();
  });
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

Creation::Creation(const LifecycleParts& parts, CreateOrder order, Decision decision)
    : parts_(parts),
      order_(std::move(order)),
      decision_(std::move(decision)),
      record_(intention(order_, decision_)) {}

// A refusal after the backend call wastes a sandbox, so the row comes first where that is expensive
// (a disk to copy) or visible (a scope's only sandbox, secrets given to it).
bool Creation::may_be_optimistic() const {
  return orphans_are_free(decision_) && order_.scope_key.empty() &&
         order_.snapshot_backend_id.empty() && order_.request.profile.secrets.empty();
}

bool Creation::drop_unaffordable(const Error& refusal) {
  if (!decision_.attempts.empty() || !reject_unaffordable(parts_, decision_, record_, refusal))
    return false;
  rank(decision_.requirements, order_.request_id, decision_.candidates);
  return true;
}

Task<std::shared_ptr<void>> Creation::enter_queue(CreateQueue::Step step) {
  const size_t most = std::max<size_t>(1, parts_.database.options().connections / kShareOfTenant);
  auto entering = parts_.create_queue->enter(order_.tenant, step, most);
  auto admission = co_await std::move(entering);
  is_crowded_ = admission.is_crowded;
  co_return std::move(admission.token);
}

Task<void> Creation::write_intention() {
  while (!has_intention_) {
    auto token = co_await enter_queue(CreateQueue::Step::begin);
    // The transaction may run after the caller gave up, so it shares ownership of this object.
    auto write = [self = shared_from_this(), token = std::move(token)](pqxx::work& tx) {
      // The later commit of the running row, which is durable, makes this one durable too.
      if (orphans_are_free(self->decision_)) commit_asynchronously(tx);
      SandboxRecord intention = self->record_;
      self->reserved_ = self->write_row(tx, self->decision_, intention);
    };
    const auto outcome = co_await attempt(parts_.database.run(std::move(write)));
    const auto* refusal = std::get_if<Error>(&outcome);
    if (refusal && !drop_unaffordable(*refusal)) throw *refusal;
    has_intention_ = !refusal;
  }
}

Task<SandboxRecord> Creation::run() {
  const auto optimistic =
      may_be_optimistic() ? parts_.optimistic_creates->take(order_.tenant, record_.id) : nullptr;
  if (!optimistic) co_await write_intention();
  placing_since_ = std::chrono::steady_clock::now();
  const Error another(ErrorCode::unavailable, "the backend answered with another's sandbox");
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  for (;;) {
    Decision open = rest();
    CreateSpec wanted = spec();
    if (optimistic && decision_.attempts.empty())
      speculative_ = try_speculative_insert(wanted, executor);
    auto placing =
        place(std::move(open), std::move(wanted), parts_.board, discarding_at_a_loss(parts_));
    Placement placement = co_await std::move(placing);
    const bool tried = !placement.attempts.empty();
    std::ranges::move(placement.attempts, std::back_inserter(decision_.attempts));
    if (speculative_) speculative_->answer(placement.placed);
    if (!placement.placed) {
      Error error = tried || decision_.attempts.empty() ? *placement.error : another;
      if (!error.retry_after) error.retry_after = usual_wait(error.code);
      if (!has_intention_) co_await write_intention();
      co_await give_up(error);
      throw error;
    }
    auto kept = co_await write_result(*placement.placed);
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

CreateSpec Creation::spec() const {
  CreateSpec spec = spec_of(order_.request, record_.id, record_.tenant);
  spec.installation = parts_.installation->id();
  spec.forwarding_path = order_.passed;
  for (const auto& [name, placeholder] : secrets_.placeholders) spec.env[name] = placeholder;
  spec.secrets = secrets_.grants;
  spec.uses_secrets = !secrets_.placeholders.empty();
  spec.snapshot = order_.snapshot_backend_id;
  return spec;
}

SandboxRecord Creation::placed_record(const Placed& placed) const {
  SandboxRecord record = record_;
  record.state = SandboxState::running;
  const Deployment& deployment = *placed.deployment;
  record.deployment = deployment.name;
  record.provider = deployment.provider;
  record.resources = deployment.granted(record.resources);
  record.backend_id = placed.sandbox.backend_id;
  record.isolation = placed.sandbox.isolation;
  record.region = placed.sandbox.region.empty() ? deployment.region() : placed.sandbox.region;
  const auto prices = parts_.prices.snapshot();
  const PriceScope scope = price_scope_of(deployment, record.tenant.value, record.region);
  const Time now = parts_.clock.now();
  const auto charge = charge_per_hour(*prices, scope, record.resources, now);
  if (charge) {
    record.charge_per_hour = charge->amount.to_string();
    record.currency = charge->currency;
    record.other_currencies = other_currencies(*prices, scope, now, charge->currency);
  }
  return record;
}

Task<std::optional<SandboxRecord>> Creation::write_result(const Placed& placed) {
  const SandboxRecord wanted = placed_record(placed);
  Error reason(ErrorCode::conflict, "the sandbox was ended while it was being created");
  for (int tries = 1; tries <= kKeepTries; ++tries) {
    const auto mark = parts_.cache.mark_of(wanted.id);
    auto writing = write(wanted);
    auto outcome = co_await attempt(std::move(writing));
    if (auto* written = std::get_if<std::optional<SandboxRecord>>(&outcome)) {
      if (!*written) break;
      parts_.cache.store(**written, mark);
      co_return **written;
    }
    reason = std::get<Error>(outcome);
    if (sandbox_rows::is_taken(reason)) co_return std::nullopt;
    // Without a committed intention no other party knows the sandbox: report the failure at once.
    if (reason.code != ErrorCode::unavailable || !has_intention_) break;
    if (tries < kKeepTries) co_await sleep_for(kKeepPause);
  }
  abandoned_ = true;
  if (is_refusal(reason.code)) parts_.optimistic_creates->refused(order_.tenant);
  if (reason.code == ErrorCode::unavailable) parts_.optimistic_creates->not_written();
  co_await undo(placed, reason);
  throw reason;
}

Task<void> Creation::undo(const Placed& placed, const Error& reason) {
  // Limits that a create meets after its backend was called are the tenant's affair.
  (is_refusal(reason.code) ? log::debug : log::warn)(
      "a new sandbox is not kept", {{"sandbox", record_.id.value}, {"reason", reason.what()}});
  const bool unknown = reason.code == ErrorCode::unavailable && parts_.outage;
  EndIntention intention{.tenant = record_.tenant,
                         .sandbox = record_.id,
                         .at = Meter::kNeverBegan,
                         .reason = "failed",
                         .failure = SandboxFailure{"unavailable", reason.what()}};
  if (unknown) {
    auto remembering = parts_.outage->append(intention);
    co_await attempt(std::move(remembering));
    parts_.cache.invalidate(record_.id);
  }
  UnwantedSandbox unwanted{placed.deployment, placed.sandbox, record_.resources, placing_since_};
  unwanted.sandbox.sandbox_id = record_.id.value;
  // A database that does not answer takes no note of the loss.
  const bool is_silent = reason.code == ErrorCode::unavailable;
  auto ending = is_silent ? discard_sandbox(std::move(unwanted))
                          : discard_at_a_loss(parts_, std::move(unwanted));
  const auto ended = co_await attempt_within(kLateKillTimeout, std::move(ending));
  const auto* error = std::get_if<Error>(&ended);
  // The reaper kills what this does not, and what other attempts may have made.
  if (!unknown || !nothing_else_made(decision_.attempts)) co_return;
  if (error && error->code != ErrorCode::not_found) co_return;
  intention.gone_at = parts_.clock.now();
  auto noting = parts_.outage->append(std::move(intention));
  co_await attempt(std::move(noting));
}

Task<void> Creation::give_up(const Error& error) {
  const SandboxFailure failure{std::string(to_string(error.code)), error.what()};
  auto work = [self = shared_from_this(), failure](pqxx::work& tx) {
    const SandboxId& id = self->record_.id;
    if (sandbox_rows::set_not_created(tx, id, failure, self->decision_.attempts))
      self->parts_.spend.release(tx, id, {});
  };
  const auto outcome = co_await attempt(parts_.database.run(std::move(work)));
  // The row stays `creating` until its lease ends; then the reaper gives it up.
  if (const auto* unwritten = std::get_if<Error>(&outcome))
    log::warn("a failed create was not recorded",
              {{"sandbox", record_.id.value}, {"reason", unwritten->what()}});
}

}  // namespace sandgate
