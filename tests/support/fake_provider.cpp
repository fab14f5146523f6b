#include "tests/support/fake_provider.hpp"

namespace sandgate::test {

Descriptor FakeProvider::capable(std::string name) {
  Descriptor descriptor;
  descriptor.provider = std::move(name);
  descriptor.isolation = Isolation::kernel;
  descriptor.persistence = {Persistence::ephemeral, Persistence::persistent};
  for (const Verb verb : {Verb::exec, Verb::files, Verb::pty, Verb::metrics})
    descriptor.verbs[verb] = Keeps::nothing;
  descriptor.verbs[Verb::pause] = Keeps::disk;
  descriptor.verbs[Verb::snapshot] = descriptor.verbs[Verb::fork] = Keeps::disk;
  descriptor.controls = {Control::network_deny,  Control::network_rules, Control::cpu_limit,
                         Control::memory_limit,  Control::process_limit, Control::disk_limit,
                         Control::network_allow, Control::allow_root};
  descriptor.limits = {.max_milli_vcpu = 8000, .max_memory_mib = 16384, .max_disk_gib = 64};
  descriptor.regions = {"eu"};
  descriptor.images = {"debian-12"};
  return descriptor;
}

void FakeProvider::fail_creates(Fault fault, ErrorCode code, std::chrono::milliseconds delay) {
  std::lock_guard lock(mutex_);
  fault_ = fault;
  code_ = code;
  delay_ = delay;
}

void FakeProvider::offer(Descriptor descriptor) {
  std::lock_guard lock(mutex_);
  offered_ = std::move(descriptor);
}

void FakeProvider::lose(const std::string& backend_id) {
  std::lock_guard lock(mutex_);
  alive_.erase(backend_id);
}

void FakeProvider::leave(const std::string& backend_id) {
  std::lock_guard lock(mutex_);
  alive_.at(backend_id).state = BackendState::gone;
}

size_t FakeProvider::alive() const {
  std::lock_guard lock(mutex_);
  return alive_.size();
}

bool FakeProvider::has(const std::string& sandbox_id) const {
  std::lock_guard lock(mutex_);
  for (const auto& [id, one] : alive_)
    if (one.sandbox_id == sandbox_id) return true;
  return false;
}

TracePtr FakeProvider::last_trace() const {
  std::lock_guard lock(mutex_);
  return last_trace_;
}

CreateSpec FakeProvider::last_spec() const {
  std::lock_guard lock(mutex_);
  return last_spec_;
}

std::chrono::seconds FakeProvider::last_extension() const {
  std::lock_guard lock(mutex_);
  return last_extension_;
}

Descriptor FakeProvider::descriptor() const {
  std::lock_guard lock(mutex_);
  return offered_;
}

BackendSandbox FakeProvider::make(const CreateSpec& spec) {
  std::lock_guard lock(mutex_);
  last_spec_ = spec;
  BackendSandbox made{.backend_id = "fake-" + std::to_string(++next_),
                      .sandbox_id = spec.sandbox_id,
                      .installation = spec.installation,
                      .isolation = offered_.isolation,
                      .region = "eu",
                      .created_at = made_at_,
                      .resources = spec.resources};
  alive_[made.backend_id] = made;
  return made;
}

Task<BackendSandbox> FakeProvider::create(CreateSpec spec) {
  ++creates_;
  Fault fault;
  ErrorCode code;
  std::chrono::milliseconds delay;
  const asio::any_io_executor here = co_await asio::this_coro::executor;
  {
    std::lock_guard lock(mutex_);
    last_trace_ = trace_of(here);
    fault = fault_;
    code = code_;
    delay = delay_;
  }
  if (fault == Fault::error) throw Error(code, "switched to fail");
  {
    std::lock_guard lock(mutex_);
    if (!spec.snapshot.empty() && !snapshots_.contains(spec.snapshot))
      throw Error::not_found("snapshot", spec.snapshot);
  }
  if (fault == Fault::hang) co_await sleep_for(std::chrono::hours(1));
  if (fault == Fault::slow || fault == Fault::repeated) co_await sleep_for(delay);
  if (fault == Fault::nonsense) co_return BackendSandbox{};
  if (fault == Fault::repeated) {
    std::lock_guard lock(mutex_);
    co_return alive_.begin()->second;
  }
  BackendSandbox made = make(spec);
  if (fault == Fault::lost_reply) throw Error(code, "switched to lose its reply");
  co_return made;
}

Resources FakeProvider::granted(const Resources& asked) const {
  return {.milli_vcpu = std::max(asked.milli_vcpu, least_.milli_vcpu),
          .memory_mib = std::max(asked.memory_mib, least_.memory_mib),
          .disk_gib = std::max(asked.disk_gib, least_.disk_gib),
          .processes = asked.processes};
}

std::optional<BackendSandbox> FakeProvider::predict_create(const CreateSpec& spec) const {
  std::lock_guard lock(mutex_);
  if (foreseen_.empty()) return std::nullopt;
  return BackendSandbox{.backend_id = foreseen_,
                        .sandbox_id = spec.sandbox_id,
                        .isolation = offered_.isolation,
                        .region = "eu"};
}

Task<std::optional<BackendSandbox>> FakeProvider::find(std::string id) {
  std::lock_guard lock(mutex_);
  if (lags_ > 0 && lags_-- > 0) co_return std::nullopt;
  for (const auto* known : {&alive_, &finished_})
    if (const auto found = known->find(id); found != known->end()) co_return found->second;
  co_return std::nullopt;
}

Task<std::optional<BackendSandbox>> FakeProvider::find_by_tag(std::string sandbox_id) {
  std::lock_guard lock(mutex_);
  for (const auto& [id, one] : alive_)
    if (one.sandbox_id == sandbox_id) co_return one;
  co_return std::nullopt;
}

Task<std::vector<BackendSandbox>> FakeProvider::list() {
  if (refuse_lists_) throw Error(ErrorCode::unavailable, "it is away");
  while (hang_lists_) co_await sleep_for(std::chrono::milliseconds(2));
  std::lock_guard lock(mutex_);
  std::vector<BackendSandbox> all;
  for (const auto& [id, one] : alive_) all.push_back(one);
  co_return all;
}

Task<void> FakeProvider::kill(std::string id) {
  ++kills_;
  if (refuse_kills_) throw Error(ErrorCode::unavailable, "switched to refuse kills");
  while (hang_kills_) co_await sleep_for(std::chrono::milliseconds(2));
  std::lock_guard lock(mutex_);
  alive_.erase(id);
  co_return;
}

BackendSandbox* FakeProvider::put_aside(const std::string& id, std::chrono::milliseconds ago) {
  auto alive = alive_.extract(id);
  if (!alive) return nullptr;
  BackendSandbox& gone = finished_[id] = alive.mapped();
  gone.state = BackendState::gone;
  gone.counted = counted_.value_or(SandboxMetrics());
  gone.counted->sampled_at = SystemClock().now() - ago;
  return &gone;
}

void FakeProvider::die(const std::string& backend_id, std::chrono::milliseconds ago) {
  std::lock_guard lock(mutex_);
  if (BackendSandbox* gone = put_aside(backend_id, ago)) gone->died = true;
}

void FakeProvider::end_by_rule(const std::string& backend_id, RuledEnd end) {
  std::lock_guard lock(mutex_);
  BackendSandbox* gone = put_aside(backend_id, {});
  if (!gone) return;
  gone->counted.reset();
  gone->ended = end;
}

Task<SandboxMetrics> FakeProvider::finish(std::string id) {
  ++kills_;
  if (refuse_kills_) throw Error(ErrorCode::unavailable, "switched to refuse kills");
  {
    std::lock_guard lock(mutex_);
    put_aside(id, ended_ago_);
  }
  while (hang_kills_) co_await sleep_for(std::chrono::milliseconds(2));
  std::lock_guard lock(mutex_);
  const auto found = finished_.find(id);
  if (found == finished_.end()) throw Error::not_found("sandbox", id);
  co_return *found->second.counted;
}

Task<std::vector<std::string>> FakeProvider::deaths() {
  std::lock_guard lock(mutex_);
  std::vector<std::string> died;
  for (const auto& [id, gone] : finished_)
    if (gone.died) died.push_back(gone.sandbox_id);
  co_return died;
}

void FakeProvider::fail_states(Fault fault, ErrorCode code) {
  std::lock_guard lock(mutex_);
  state_fault_ = fault;
  state_code_ = code;
}

void FakeProvider::fail_as_switched(bool before) const {
  std::lock_guard lock(mutex_);
  const Fault now = before ? Fault::error : Fault::lost_reply;
  if (state_fault_ == now) throw Error(state_code_, "switched to fail");
}

void FakeProvider::once_changed(std::function<void()> happening) {
  std::lock_guard lock(mutex_);
  once_changed_ = std::move(happening);
}

void FakeProvider::change(const std::string& id, BackendState state) {
  std::lock_guard lock(mutex_);
  const auto found = alive_.find(id);
  if (found == alive_.end()) throw Error::not_found("sandbox", id);
  found->second.state = state;
  if (const auto happening = std::exchange(once_changed_, {})) happening();
}

BackendState FakeProvider::state_of(const std::string& backend_id) const {
  std::lock_guard lock(mutex_);
  const auto found = alive_.find(backend_id);
  return found == alive_.end() ? BackendState::gone : found->second.state;
}

size_t FakeProvider::snapshots() const {
  std::lock_guard lock(mutex_);
  return snapshots_.size();
}

Task<Keeps> FakeProvider::pause(std::string id, Keeps) {
  fail_as_switched(true);
  change(id, BackendState::paused);
  fail_as_switched(false);
  co_return descriptor().verbs.at(Verb::pause);
}

Task<void> FakeProvider::resume(std::string id) {
  fail_as_switched(true);
  change(id, BackendState::running);
  fail_as_switched(false);
  co_return;
}

Task<void> FakeProvider::extend(std::string id, std::chrono::seconds ttl) {
  std::lock_guard lock(mutex_);
  if (!alive_.contains(id)) throw Error::not_found("sandbox", id);
  if (extend_fault_ && extend_faults_-- > 0) throw Error(*extend_fault_, "switched to fail");
  const std::chrono::seconds longest = longest_;
  if (longest.count() > 0 && ttl > longest) throw Error::invalid("/ttl_seconds", "is too long");
  last_extension_ = ttl;
  ++extensions_;
  if (const auto happening = std::exchange(once_changed_, {})) happening();
  co_return;
}

Task<BackendSnapshot> FakeProvider::snapshot(std::string id, std::string snapshot_id, Keeps, bool) {
  fail_as_switched(true);
  const std::string made = "kept-" + snapshot_id;
  {
    std::lock_guard lock(mutex_);
    if (!alive_.contains(id)) throw Error::not_found("sandbox", id);
    snapshots_[made] = snapshot_id;
  }
  fail_as_switched(false);
  co_return BackendSnapshot{.backend_id = made, .kept = Keeps::disk, .size_bytes = 4096};
}

Task<std::optional<BackendSnapshot>> FakeProvider::find_snapshot(std::string snapshot_id) {
  std::lock_guard lock(mutex_);
  for (const auto& [id, ours] : snapshots_)
    if (ours == snapshot_id) co_return BackendSnapshot{.backend_id = id};
  co_return std::nullopt;
}

Task<void> FakeProvider::remove_snapshot(std::string snapshot) {
  std::lock_guard lock(mutex_);
  // Of a machine of ours: <our id>@<machine>, as before it was made.
  std::erase_if(snapshots_, [&](const auto& kept) {
    return kept.first == snapshot || snapshot.starts_with(kept.second + "@");
  });
  co_return;
}

void FakeProvider::count(SandboxMetrics totals) {
  std::lock_guard lock(mutex_);
  counted_ = totals;
}

Task<void> FakeProvider::set_network(std::string, NetworkPolicy) {
  throw Error(network_fault_, "the network cannot be changed");
  co_return;
}

Task<SandboxMetrics> FakeProvider::metrics(std::string id) {
  std::optional<SandboxMetrics> counted;
  {
    std::lock_guard lock(mutex_);
    if (alive_.contains(id)) counted = counted_;
  }
  if (!counted) throw Error(ErrorCode::unsupported, "nothing is counted");
  counted->sampled_at = SystemClock().now();
  co_return *counted;
}

}  // namespace sandgate::test
