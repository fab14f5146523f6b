#include "gateway/placement/race.hpp"

#include <algorithm>

#include "gateway/core/log.hpp"
#include "gateway/core/settle.hpp"
#include "gateway/placement/backend_failure.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::seconds kKillTimeout{30};
constexpr size_t kLongestId = 1024;

// Refused credentials and a request that was never sent prove that nothing was made, whatever the
// error's code.
AttemptOutcome outcome_of(const Error& error) {
  const bool is_certain =
      is_definite_failure(error) || are_credentials_refused(error) || was_never_sent(error);
  return is_certain ? AttemptOutcome::failed : AttemptOutcome::unknown;
}

// Whether rows, indexes and URL paths can hold the id.
bool is_id(const std::string& text) {
  const auto is_visible = [](unsigned char c) { return c > ' ' && c < 0x7f; };
  const std::string steps = "/" + text + "/";
  const bool leads_elsewhere = steps.find("//") != std::string::npos ||
                               steps.find("/./") != std::string::npos ||
                               steps.find("/../") != std::string::npos;
  return text.size() <= kLongestId && !leads_elsewhere && std::ranges::all_of(text, is_visible);
}

// Whether the answer names an existing sandbox, whatever its status code.
bool is_there(const BackendSandbox& made) {
  return is_id(made.backend_id) && made.state != BackendState::gone;
}

// A backend may deliver less than its descriptor promises. Only one that has a single region need
// not name it.
bool is_as_asked(const BackendSandbox& made, const Requirements& wanted,
                 const Descriptor& offered) {
  const auto& regions = wanted.placement.regions;
  const bool in_region =
      regions.empty() ||
      (made.region.empty() ? offered.regions.size() == 1
                           : std::ranges::find(regions, made.region) != regions.end());
  return made.isolation >= wanted.isolation && in_region;
}

std::chrono::milliseconds since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                               start);
}

}  // namespace

Race::Race(asio::strand<asio::any_io_executor> strand, Decision decision, CreateSpec spec,
           HealthBoard& board, DiscardSandbox discard)
    : strand_(strand),
      decision_(std::move(decision)),
      eligible_(decision_.eligible()),
      spec_(std::move(spec)),
      board_(board),
      discard_(std::move(discard)),
      wake_(strand_) {
  const auto& fallback = decision_.requirements.placement.fallback;
  deadline_ = Steady::now() + std::chrono::milliseconds(fallback.deadline_ms);
}

Task<Placement> Race::run() {
  // On every exit, cancellation included, later answers count as late.
  struct Finish {
    bool& finished;
    ~Finish() { finished = true; }
  } finish{finished_};
  while (true) {
    for (size_t i = 0; i < flights_.size(); ++i) record(flights_[i]);
    const auto now = Steady::now();
    give_up_overdue(now);
    if (placement_.placed || stop_ || over(now)) break;
    const auto hedge = decision_.requirements.placement.fallback.hedge_after_ms;
    const bool hedge_due = hedge > 0 && !flights_.empty() &&
                           now >= flights_.back()->started + std::chrono::milliseconds(hedge);
    if ((active() == 0 || hedge_due) && !start_next() && active() == 0) break;
    co_await wait();
  }
  for (const FlightPtr& flight : flights_)  // overtaken by a hedge
    if (flight->active) placement_.attempts[flight->attempt].duration = since(flight->started);
  if (!placement_.placed) placement_.error = final_error();
  co_return placement_;
}

bool Race::more() const {
  const auto& fallback = decision_.requirements.placement.fallback;
  return next_ < eligible_ && placement_.attempts.size() < static_cast<size_t>(fallback.attempts);
}

size_t Race::active() const {
  return static_cast<size_t>(std::count_if(flights_.begin(), flights_.end(),
                                           [](const auto& flight) { return flight->active; }));
}

bool Race::over(Steady::time_point now) const { return now >= deadline_; }

bool Race::start_next() {
  while (more()) {
    Candidate& candidate = decision_.candidates[next_++];
    const DeploymentPtr deployment = candidate.deployment;
    if (!board_.admit(deployment->key())) {
      candidate.reject_now("breaker_open");
      candidate.health = board_.health_of(deployment->key());
      continue;
    }
    Account::Slot slot;
    if (deployment->account) slot = deployment->account->take(deployment->account_limits);
    if (deployment->account && !slot) {
      board_.withdrawn(deployment->key());
      candidate.reject_now("account_limit");
      candidate.account_backoff = deployment->account->backoff_left();
      continue;
    }
    auto flight = std::make_shared<Flight>();
    flight->deployment = deployment;
    flight->slot = std::move(slot);
    flight->started = Steady::now();
    flight->deadline = std::min(flight->started + deployment->attempt_deadline, deadline_);
    flight->attempt = placement_.attempts.size();
    placement_.attempts.push_back({.deployment = deployment->name});
    flights_.push_back(flight);
    launch(flight);
    return true;
  }
  return false;
}

std::string Race::image_on(const Deployment& deployment) const {
  return image_for(decision_.requirements, deployment.provider, deployment.descriptor);
}

CreateSpec Race::spec_for(const Deployment& deployment) const {
  CreateSpec spec = spec_;
  spec.image = image_on(deployment);
  spec.region = region_for(decision_.requirements, deployment.descriptor);
  spec.ttl = backend_ttl(spec_.ttl, deployment.descriptor);
  return spec;
}

void Race::launch(const FlightPtr& flight) {
  // Not cut to the profile's deadline: how soon a tenant gives up says nothing about the backend.
  const auto patience = flight->deployment->attempt_deadline;
  auto work = [self = shared_from_this(), flight, patience,
               spec = spec_for(*flight->deployment)]() -> Task<void> {
    std::optional<Result> result;
    try {
      auto creating = flight->deployment->backend->create(spec);
      result = co_await attempt_within(patience, std::move(creating));
      if (const auto* made = std::get_if<BackendSandbox>(&*result); made && !is_there(*made))
        result.emplace(Error(ErrorCode::unavailable, "the backend answered with no sandbox"));
      else if (made &&
               !is_as_asked(*made, self->decision_.requirements, flight->deployment->descriptor))
        result = self->refused(*flight, *made);
    } catch (const std::exception& failure) {
      log::error("a backend failed in an unforeseen way",
                 {{"deployment", flight->deployment->name}, {"reason", failure.what()}});
      result.emplace(Error(ErrorCode::internal, "the backend failed in an unforeseen way"));
    }
    self->arrived(flight, std::move(*result));
  };
  asio::co_spawn(strand_, std::move(work), asio::detached);
}

void Race::arrived(const FlightPtr& flight, Result result) {
  flight->slot = {};
  if (finished_ || !flight->active) return arrived_late(*flight, result);
  flight->result = std::move(result);
  wake_.cancel();
}

Race::Result Race::refused(const Flight& flight, const BackendSandbox& made) {
  discard(flight, made);
  return Error(ErrorCode::unavailable,
               "the backend provided another isolation or region than was asked for");
}

// Attempts overtaken by a hedge or by the whole deadline count for the breaker too; otherwise a
// backend that never answers would stay closed as long as hedges win.
void Race::arrived_late(Flight& flight, const Result& result) {
  const auto* made = std::get_if<BackendSandbox>(&result);
  if (flight.undecided && made)
    board_.succeeded(flight.deployment->key(), since(flight.started), image_on(*flight.deployment));
  if (flight.undecided && !made) learn(flight, std::get<Error>(result));
  if (made) discard(flight, *made);
}

void Race::learn(Flight& flight, const Error& error) {
  flight.undecided = false;
  // How long a snapshot takes is a matter of what the tenant has written into it, and an image that
  // has to be fetched first one of which it chose.
  const bool may_take_long =
      !spec_.snapshot.empty() ||
      board_.is_new_image(flight.deployment->key(), image_on(*flight.deployment));
  if (error.code == ErrorCode::timeout && may_take_long)
    return board_.withdrawn(flight.deployment->key());
  board_.failed(flight.deployment->key(), error);
  if (error.retry_after && flight.deployment->account)
    flight.deployment->account->back_off(*error.retry_after);
}

void Race::record(const FlightPtr& flight) {
  if (!flight->active || !flight->result) return;
  flight->active = false;
  Attempt& attempt = placement_.attempts[flight->attempt];
  attempt.duration = since(flight->started);
  if (const auto* error = std::get_if<Error>(&*flight->result)) {
    learn(*flight, *error);
    return note_failure(flight, *error);
  }
  flight->undecided = false;
  board_.succeeded(flight->deployment->key(), attempt.duration, image_on(*flight->deployment));
  const auto& made = std::get<BackendSandbox>(*flight->result);
  if (placement_.placed) {
    attempt.outcome = AttemptOutcome::lost_race;
    return discard(*flight, made);
  }
  attempt.outcome = AttemptOutcome::created;
  placement_.placed = Placed{flight->deployment, made};
}

void Race::note_failure(const FlightPtr& flight, const Error& error) {
  Attempt& attempt = placement_.attempts[flight->attempt];
  attempt.outcome = outcome_of(error);
  attempt.code = error.code;
  // A backend that never can says nothing of one that could not now.
  if (error.code != ErrorCode::unsupported || !placement_.error) placement_.error = error;
  if (!can_fail_over(error.code)) stop_ = true;
  log::info("create attempt failed", {{"sandbox", spec_.sandbox_id},
                                      {"deployment", flight->deployment->name},
                                      {"code", to_string(error.code)},
                                      {"reason", error.what()}});
}

void Race::give_up_overdue(Steady::time_point now) {
  for (const FlightPtr& flight : flights_) {
    if (!flight->active || now < flight->deadline) continue;
    flight->active = false;
    placement_.attempts[flight->attempt].duration = since(flight->started);
    const Error late(ErrorCode::timeout, "the backend did not answer in time");
    if (now >= flight->started + flight->deployment->attempt_deadline) learn(*flight, late);
    note_failure(flight, late);
  }
}

void Race::discard(const Flight& flight, const BackendSandbox& made) {
  UnwantedSandbox unwanted{flight.deployment, made, spec_.resources, flight.started};
  unwanted.sandbox.sandbox_id = spec_.sandbox_id;
  auto work = [discard = discard_, unwanted = std::move(unwanted)]() -> Task<void> {
    auto ending = discard(unwanted);
    const auto outcome = co_await attempt_within(kKillTimeout, std::move(ending));
    // The reaper kills what this does not.
    if (std::holds_alternative<Error>(outcome))
      log::warn("a late sandbox was not killed at once",
                {{"deployment", unwanted.deployment->name}});
  };
  asio::co_spawn(strand_, std::move(work), asio::detached);
}

Task<void> Race::wait() {
  auto until = deadline_;
  bool arrived_already = false;
  for (const FlightPtr& flight : flights_) {
    if (!flight->active) continue;
    until = std::min(until, flight->deadline);
    arrived_already = arrived_already || flight->result.has_value();
  }
  const auto hedge = decision_.requirements.placement.fallback.hedge_after_ms;
  if (hedge > 0 && more() && !flights_.empty())
    until = std::min(until, flights_.back()->started + std::chrono::milliseconds(hedge));
  if (arrived_already) co_return;
  wake_.expires_at(until);
  boost::system::error_code woken;
  co_await wake_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
}

Error Race::final_error() const {
  if (!placement_.error && !over(Steady::now())) return nothing_eligible(decision_);
  Error error = placement_.error.value_or(Error(ErrorCode::timeout, "no backend answered in time"));
  // The rate limit applies to the gateway, not to its caller.
  if (error.code == ErrorCode::rate_limited) {
    Error full(ErrorCode::no_capacity, error.what());
    full.retry_after = error.retry_after;
    full.provider = error.provider;
    error = full;
  }
  const bool may_be_the_snapshot = !spec_.snapshot.empty();
  if (error.code == ErrorCode::not_found && !may_be_the_snapshot)
    error = Error(ErrorCode::unsupported, error.what());
  if (!error.retry_after) error.retry_after = usual_wait(error.code);
  if (!placement_.error) return error;
  Json attempts = Json::array();
  for (const Attempt& attempt : placement_.attempts) attempts.push_back(to_json(attempt));
  if (!error.details.is_object()) error.details = Json::object();
  error.details["attempts"] = std::move(attempts);
  return error;
}

}  // namespace sandgate
