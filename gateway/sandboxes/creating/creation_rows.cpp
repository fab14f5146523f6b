#include "gateway/core/settle.hpp"
#include "gateway/sandboxes/creating/create_limits.hpp"
#include "gateway/sandboxes/creating/creation.hpp"
#include "gateway/sandboxes/creating/creation_charge.hpp"
#include "gateway/sandboxes/creating/given_env.hpp"
#include "gateway/sandboxes/creating/price_scope.hpp"
#include "gateway/sandboxes/creating/scopes.hpp"
#include "registry/idempotency_effect.hpp"
#include "registry/secret_store.hpp"

// The transactions of a create.
namespace sandgate {
namespace {

constexpr std::chrono::seconds kLeaseSlack{15};  // beyond the placement's own deadline
// Callers wait as long while the server is silent: a tenth of Database::Options::patience.
constexpr std::chrono::milliseconds kAtOnceWithin{200};

// Eligible candidates that are stored, and so may be removed at any time.
std::vector<std::string> stored_candidates(const Decision& decision) {
  std::vector<std::string> names;
  for (const Candidate& candidate : decision.candidates)
    if (candidate.eligible() && candidate.deployment->stored)
      names.push_back(candidate.deployment->name);
  return names;
}

bool runs_as(const SandboxRecord& found, const SandboxRecord& placed) {
  return found.state == SandboxState::running && found.backend_id == placed.backend_id &&
         found.deployment == placed.deployment;
}

}  // namespace

// A deployment is removed only while unused, but this decision may be older than the removal.
void Creation::lock_candidates(pqxx::work& tx, const Decision& decision) {
  const std::vector<std::string> names = stored_candidates(decision);
  if (names.empty() || sandbox_rows::lock_deployments(tx, order_.tenant, names)) return;
  is_outdated_ = true;
  Error error(ErrorCode::unavailable, "a deployment was changed at this moment: try again");
  error.retry_after = std::chrono::seconds(1);
  throw error;
}

sandbox_rows::NewRow Creation::new_row(const Decision& decision,
                                       const SandboxRecord& record) const {
  const std::chrono::milliseconds deadline(decision.requirements.placement.fallback.deadline_ms);
  return {.decision = decision,
          .lease = deadline + kLeaseSlack,
          .overrides = order_.overrides,
          .scope_key = order_.scope_key,
          .sealed_env = given_env::sealed(parts_.cipher, record_.id, order_.env),
          .own = price_scope_of(parts_.deployments, record).own};
}

// The insert statements themselves check limits and budgets.
bool Creation::has_nothing_to_lock(const Decision& decision) const {
  return order_.claim.empty() && stored_candidates(decision).empty() &&
         !parts_.optimistic_creates->has_limits(order_.tenant);
}

bool Creation::write_row(pqxx::work& tx, const Decision& decision, SandboxRecord& record) {
  order_.copy.empty() ? mark_effect(tx, order_.claim, record_.id.value)
                      : add_effect(tx, order_.claim, order_.copy + record_.id.value);
  lock_candidates(tx, decision);
  claim_scope(tx, order_.tenant, order_.scope_key);
  check_create_limits(tx, order_.tenant, record_.resources);
  PlannedCharge charge = highest_charge(parts_, decision, record_);
  charge.is_crowded = is_crowded_;
  const bool reserved = parts_.spend.reserve(tx, record_, charge);
  const auto inserted = sandbox_rows::insert(tx, record, new_row(decision, record));
  if (!inserted) throw Error(ErrorCode::conflict, "there is a row of the sandbox already");
  record = *inserted;
  if (!order_.request.profile.secrets.empty())
    secrets_ = sandbox_secrets::bind(tx, parts_.cipher, record_.tenant, record_.id.value,
                                     order_.request.profile.secrets,
                                     order_.copy.empty() ? sandbox_secrets::OnMissing::refused
                                                         : sandbox_secrets::OnMissing::empty);
  return reserved;
}

// A stalled database server may run the transaction long after the sandbox was ended.
void Creation::check_not_abandoned() const {
  if (abandoned_) throw Error(ErrorCode::unavailable, "the create was given up");
}

std::optional<SandboxRecord> Creation::write_placed(pqxx::work& tx, const SandboxRecord& placed) {
  if (!has_intention_) {
    // The single-statement insert may have committed although its answer was lost.
    if (const auto found = asked_ ? sandbox_rows::find(tx, placed.id) : std::nullopt)
      return runs_as(*found, placed) ? found : std::nullopt;
    SandboxRecord running = placed;
    const bool reserved = write_row(tx, decision_, running);
    begin_charge(tx, running, reserved);
    check_not_abandoned();
    return running;
  }
  const bool own = price_scope_of(parts_.deployments, placed).own;
  const auto running = sandbox_rows::set_running(tx, placed, own, decision_.attempts);
  if (!running) {
    // An earlier try may have committed although its answer was lost.
    const auto found = sandbox_rows::find(tx, placed.id);
    if (!found) throw Error(ErrorCode::unavailable, "the database lost the sandbox in a crash");
    return runs_as(*found, placed) ? found : std::nullopt;
  }
  begin_charge(tx, *running, reserved_);
  return running;
}

void Creation::begin_charge(pqxx::work& tx, const SandboxRecord& running, bool reserved) const {
  if (reserved) parts_.spend.adjust(tx, running, start_charge(parts_, running));
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
                         .own = price_scope_of(parts_.deployments, running).own});
}

bool Creation::write_running(pqxx::work& tx, const Decision& decision, SandboxRecord& record) {
  if (has_nothing_to_lock(decision)) {
    if (auto free = sandbox_rows::insert_unlimited(tx, record, new_row(decision, record))) {
      record = std::move(*free);
      return false;
    }
    parts_.optimistic_creates->note_limits(order_.tenant);
  }
  return write_row(tx, decision, record);
}

std::shared_ptr<SpeculativeInsert> Creation::try_speculative_insert(
    const CreateSpec& wanted, const asio::any_io_executor& executor) {
  const DeploymentPtr first = decision_.candidates.front().deployment;
  auto foreseen = first->backend->predict_create(wanted);
  const size_t most = parts_.database.options().connections / SpeculativeInsert::kConnectionShare;
  auto permit = parts_.optimistic_creates->hold_connection(order_.tenant, most);
  if (!foreseen || !permit) return nullptr;
  auto speculative = std::make_shared<SpeculativeInsert>(Placed{first, std::move(*foreseen)});
  auto write = [self = shared_from_this(), speculative, permit, decision = decision_,
                placed = placed_record(speculative->foreseen())](pqxx::work& tx) {
    SandboxRecord running = placed;
    const bool reserved = self->write_running(tx, decision, running);
    speculative->wait();
    if (reserved) self->parts_.spend.adjust(tx, running, start_charge(self->parts_, running));
    sandbox_rows::begin(tx, running.id, self->decision_.attempts, self->order_.key);
    self->check_not_abandoned();
    return running;
  };
  start_speculative_write(executor, parts_.database, speculative, std::move(write));
  return speculative;
}

Task<std::optional<SandboxRecord>> Creation::write(SandboxRecord placed) {
  if (const auto speculative = std::exchange(speculative_, nullptr)) {
    auto waiting = speculative->result();
    auto written = co_await std::move(waiting);
    if (written) co_return written;
  }
  if (!has_intention_ && has_nothing_to_lock(decision_)) {
    const Time until = parts_.clock.now() + kAtOnceWithin;
    auto at_once = [self = shared_from_this(), placed, until](pqxx::nontransaction& statement) {
      return sandbox_rows::try_fast_insert(
          statement, placed, self->new_row(self->decision_, placed), self->record_.key, until);
    };
    asked_ = true;
    auto stating = parts_.database.run_statement(std::move(at_once));
    auto written = co_await std::move(stating);
    if (written) co_return written;
    const bool in_time = parts_.clock.now() < until;
    if (in_time) parts_.optimistic_creates->note_limits(order_.tenant);
  }
  auto token = co_await enter_queue(CreateQueue::Step::finish);
  auto work = [self = shared_from_this(), placed, token = std::move(token)](pqxx::work& tx) {
    return self->write_placed(tx, placed);
  };
  auto writing = parts_.database.run(std::move(work));
  co_return co_await std::move(writing);
}

}  // namespace sandgate
