#include "local/node/supervisor.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "gateway/core/log.hpp"
#include "local/egress/byte_count.hpp"
#include "local/namespaces/freezer.hpp"

namespace sandgate {
namespace {

constexpr int kKillTimeoutMs = 10'000;
constexpr std::chrono::seconds kEndPatience{5};

std::string agent_binary(const NodeSettings& settings) {
  if (!settings.agent_binary.empty()) return settings.agent_binary;
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "sandgate-agent";
}

void kill_process(int pidfd) { syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0); }

// Also for processes that are not our children: a pidfd is readable once its process is dead,
// and the first process of a pid namespace dies last.
bool wait_gone(int pidfd) {
  pollfd watched{pidfd, POLLIN, 0};
  bool gone = poll(&watched, 1, kKillTimeoutMs) == 1;
  siginfo_t info{};
  waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED | WNOHANG);
  return gone;
}

}  // namespace

Supervisor::Supervisor(NodeSettings settings, std::function<void(std::function<void()>)> post)
    : settings_(std::move(settings)),
      post_(std::move(post)),
      space_(settings_.data_dir, settings_.disk_floor_mib),
      images_(images_dir(settings_)),
      disks_(disks_dir(settings_)),
      snapshots_(snapshots_dir(settings_)),
      journal_(sandboxes_dir(settings_)),
      ends_(ends_dir(settings_)),
      cgroups_(open_cgroup_tree("sandgate-" + settings_.name, disk_speed(settings_))),
      seccomp_(compile_seccomp()),
      launcher_(agent_binary(settings_)),
      ranges_(settings_.id_base, settings_.id_ranges - 1),  // the last is the egress process's
      egress_(settings_),
      capabilities_(machine_capabilities(settings_, cgroups_->support())),
      pool_(settings_.warm_sandboxes, settings_.warm_floor),
      watcher_([this](const std::string& id) { on_exit(id); },
               [this] {
                 end_expired();
                 watch_space();
               }) {
  capabilities_.no_egress = egress_.missing();
  recover();
  try_out();
  Warming::Work work;
  work.make = [this](const SeatClass& seat_class) { return make_seat(seat_class); };
  work.end = [this](const std::string& seat) { end_seat(seat); };
  warming_ = std::make_unique<Warming>(pool_, std::move(work));
  // With version 2 what connections hold counts as memory of the group.
  if (capabilities_.cgroups.version == 1)
    tcp_watch_ = std::make_unique<TcpWatch>([this] { end_tcp_hoards(); });
}

Supervisor::~Supervisor() {
  tcp_watch_.reset();
  warming_.reset();
  std::vector<LivePtr> waiting;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [id, live] : sandboxes_) {
      if (live->record.state == RecordState::waiting) waiting.push_back(live);
    }
  }
  for (const LivePtr& seat : waiting) {
    end_seat(seat->record.id);
    remove_traces(seat);
  }
}

void Supervisor::check_order(const SandboxOrder& order) const {
  const Resources& wanted = order.resources;
  if (!is_safe_name(order.id)) throw Error::invalid("/id", "is not a sandbox id");
  auto within = [](int64_t value, int64_t most) { return value > 0 && value <= most; };
  if (!within(wanted.milli_vcpu, capabilities_.max_milli_vcpu) ||
      !within(wanted.memory_mib, capabilities_.max_memory_mib) ||
      !within(wanted.disk_gib, capabilities_.max_disk_gib) || !within(wanted.processes, 32768)) {
    throw Error(ErrorCode::no_capacity, "this machine does not have the resources asked for");
  }
  if (order.ttl.count() <= 0) throw Error::invalid("/ttl_seconds", "must be positive");
}

JournalRecord Supervisor::create(const SandboxOrder& order) {
  check_order(order);
  require_space();
  const OpenImage image = open_image(order);
  const bool own = !order.snapshot.empty() || !order.workspace.empty();  // nothing waits for it
  if (own) return launch(order, image, Owner::known);
  const LivePtr seat = take_seat(order, image.info);
  auto record = seat ? hand_over(seat, order, image.info) : std::nullopt;
  warming_->wake();  // after whoever waits for this one
  return record ? *std::move(record) : launch(order, image, Owner::known);
}

void Supervisor::stop(Live& live) {
  if (!live.pidfd) return;
  kill_process(live.pidfd.get());
  if (live.record.paused) thaw(live.record.cgroups);  // the frozen do not die
  if (!wait_gone(live.pidfd.get())) throw Error(ErrorCode::timeout, "the sandbox does not end");
}

bool Supervisor::halt(const LivePtr& live) {
  {
    std::lock_guard lock(mutex_);
    if (live->gone) return false;
  }
  stop(*live);
  std::lock_guard lock(mutex_);
  live->gone = true;
  return true;
}

void Supervisor::end(const LivePtr& live) {
  if (halt(live)) post_([this, live] { remove_traces(live); });
}

// The journal entry goes last: until then a later supervisor would sweep what is left.
void Supervisor::remove_traces(const LivePtr& live) {
  std::lock_guard busy(live->busy);
  const JournalRecord& record = live->record;
  live->mounts.reset();
  live->disk.reset();
  egress_.detach(record.id);
  if (!remove_cgroups(record.cgroups)) log::warn("control group left", {{"sandbox", record.id}});
  disks_.remove(record.id);
  {
    std::lock_guard recording(live->recording);
    journal_.remove(record.id);
  }
  live->pidfd.reset();
  ranges_.release(record.id_base);
  std::lock_guard lock(mutex_);
  sandboxes_.erase(record.id);
}

Supervisor::LivePtr Supervisor::lookup(const std::string& id) const {
  std::lock_guard lock(mutex_);
  auto found = sandboxes_.find(id);
  return found == sandboxes_.end() || found->second->gone ? nullptr : found->second;
}

// A copy under way stops soon; what a disk has yet to write may take longer.
std::pair<Supervisor::LivePtr, std::unique_lock<std::timed_mutex>> Supervisor::hold_to_end(
    const std::string& id) const {
  LivePtr live = lookup(id);
  if (!live) return {};
  live->ending = true;
  std::unique_lock busy(live->busy, kEndPatience);
  if (!busy) throw Error(ErrorCode::timeout, "the sandbox does not end");
  return {std::move(live), std::move(busy)};
}

void Supervisor::kill(const std::string& id) {
  if (const auto [live, busy] = hold_to_end(id); live) end(live);
}

std::optional<SandboxMetrics> Supervisor::finish(const std::string& id) {
  const auto [live, busy] = hold_to_end(id);
  if (!live || !lookup(id)) return ends_.find(id);  // also when somebody else was faster
  stop(*live);
  SandboxMetrics counted;
  counted.cpu_micros = cgroups_->cpu_micros(live->record.cgroups);
  counted.egress_bytes = egress::read_byte_count(byte_count_of(id));
  counted.sampled_at = clock_.now();
  // Before it can be missed.
  ends_.remember(id, counted);
  end(live);
  return counted;
}

void Supervisor::on_exit(const std::string& id) {
  pool_.forget(id);
  LivePtr live = lookup(id);
  if (!live) return;
  live->ending = true;
  post_([this, live] {
    std::lock_guard busy(live->busy);
    end(live);
  });
}

// Once is enough: what was killed dies sooner or later, and then its exit is reported.
void Supervisor::end_expired() {
  std::vector<std::string> expired;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [id, live] : sandboxes_) {
      if (live->gone || live->overdue || live->record.state != RecordState::running) continue;
      live->overdue = live->record.expires_at + settings_.ttl_grace < clock_.now();
      if (live->overdue) expired.push_back(id);
    }
  }
  for (const std::string& id : expired) {
    log::warn("sandbox outlived its ttl", {{"sandbox", id}});
    on_exit(id);
  }
}

std::optional<JournalRecord> Supervisor::find(const std::string& id) const {
  LivePtr live = lookup(id);
  if (!live) return std::nullopt;
  std::lock_guard lock(mutex_);
  if (!live->owned) return std::nullopt;
  return live->record;
}

std::vector<JournalRecord> Supervisor::list() const {
  std::lock_guard lock(mutex_);
  std::vector<JournalRecord> records;
  for (const auto& [id, live] : sandboxes_) {
    if (!live->gone && live->owned) records.push_back(live->record);
  }
  return records;
}

SandboxMetrics Supervisor::metrics(const std::string& id) {
  std::optional<JournalRecord> record = find(id);
  if (!record) throw Error::not_found("sandbox", id);
  CgroupUsage usage = cgroups_->usage(record->cgroups);
  SandboxMetrics metrics;
  metrics.cpu_micros = usage.cpu_micros;
  metrics.memory_used_bytes = usage.memory_bytes;
  metrics.memory_limit_bytes = record->resources.memory_mib << 20;
  metrics.disk_used_bytes = disk_used(*record);
  metrics.egress_bytes = egress::read_byte_count(byte_count_of(id));
  metrics.processes = usage.processes;
  metrics.sampled_at = clock_.now();
  return metrics;
}

// Also while a copy has busy: it must not outlast a sandbox's time.
void Supervisor::extend(const std::string& id, std::chrono::seconds ttl) {
  LivePtr live = existing(id);
  if (ttl.count() <= 0) throw Error::invalid("/ttl_seconds", "must be positive");
  const Time expires_at = clock_.now() + ttl;
  note(*live, [&](JournalRecord& record) { record.expires_at = expires_at; });
}

// The journal first: a supervisor that starts after a crash makes true what it says.
void Supervisor::note(Live& live, const std::function<void(JournalRecord&)>& change) {
  std::lock_guard recording(live.recording);
  JournalRecord copy;
  {
    std::lock_guard lock(mutex_);
    if (live.gone || live.record.state != RecordState::running)
      throw Error::not_found("sandbox", live.record.id);
    copy = live.record;
  }
  change(copy);
  journal_.write(copy);
  std::lock_guard lock(mutex_);
  change(live.record);
}

bool Supervisor::image_in_use(const std::string& name) const {
  for (const JournalRecord& record : list()) {
    if (record.image == name) return true;
  }
  for (const StoredSnapshot& snapshot : snapshots_.list()) {
    if (snapshot.image == name) return true;
  }
  return false;
}

}  // namespace sandgate
