// How a supervisor's sandboxes end, on request or by themselves.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gateway/core/log.hpp"
#include "local/egress/byte_count.hpp"
#include "local/namespaces/freezer.hpp"
#include "local/namespaces/pidfd.hpp"
#include "local/node/supervisor.hpp"

namespace sandgate {
namespace {

constexpr int kKillTimeoutMs = 10'000;
constexpr std::chrono::seconds kEndPatience{5};

// Works for processes that are not children, too: a pidfd is readable once its process is dead. The
// first process of a pid namespace dies last.
bool wait_gone(int pidfd) {
  pollfd watched{pidfd, POLLIN, 0};
  bool gone = poll(&watched, 1, kKillTimeoutMs) == 1;
  siginfo_t info{};
  waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED | WNOHANG);
  return gone;
}

}  // namespace

void Supervisor::stop(LiveSandbox& live) {
  if (!live.pidfd) return;
  kill_by_pidfd(live.pidfd);
  if (live.record.paused) thaw(live.record.cgroups);  // frozen processes do not die
  if (!wait_gone(live.pidfd.get())) throw Error(ErrorCode::timeout, "the sandbox does not end");
}

bool Supervisor::halt(const LivePtr& live) {
  if (table_.is_gone(*live)) return false;
  stop(*live);
  table_.retire(*live);
  return true;
}

void Supervisor::end(const LivePtr& live) {
  if (halt(live)) tidying_.add([this, live] { remove_traces(live); });
}

// The journal entry is removed after the other traces, so that after a crash a later supervisor
// removes the rest.
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
  table_.remove(record.id);
}

// Setting `ending` stops a copy soon; writeback of a disk may take longer.
std::pair<LivePtr, std::unique_lock<std::timed_mutex>> Supervisor::hold_to_end(
    const std::string& id) const {
  LivePtr live = table_.lookup(id);
  if (!live) return {};
  live->ending = true;
  std::unique_lock busy(live->busy, kEndPatience);
  if (!busy) throw Error(ErrorCode::timeout, "the sandbox does not end");
  return {std::move(live), std::move(busy)};
}

void Supervisor::kill(const std::string& id) {
  tidying_.disturb();
  if (const auto [live, busy] = hold_to_end(id); live) end(live);
}

std::optional<SandboxMetrics> Supervisor::finish(const std::string& id) {
  tidying_.disturb();
  const auto [live, busy] = hold_to_end(id);
  if (!live || !table_.lookup(id)) {  // unknown, died, or ended by another thread
    const auto known = ends_.find(id);
    return known ? std::optional(known->counted) : std::nullopt;
  }
  stop(*live);
  const SandboxMetrics counted = usage_until(*live, clock_.now());
  // Before the sandbox is gone, so that its usage is never missing.
  ends_.remember(id, {counted});
  end(live);
  return counted;
}

SandboxMetrics Supervisor::usage_until(const LiveSandbox& live, Time end) const {
  SandboxMetrics counted;
  counted.cpu_micros = cgroups_->cpu_micros(live.record.cgroups);
  counted.egress_bytes = egress::read_byte_count(byte_count_of(live.record.id));
  counted.sampled_at = end;
  return counted;
}

// The exit of a sandbox that was ended on request is noticed too, and says nothing new.
void Supervisor::note_death(const LiveSandbox& live, Time died_at) {
  if (table_.is_gone(live) || live.record.state == RecordState::waiting) return;
  try {
    ends_.remember(live.record.id, {usage_until(live, died_at), /*died=*/true});
  } catch (const Error& failure) {
    log::warn("a death is not kept", {{"sandbox", live.record.id}, {"reason", failure.what()}});
  }
}

void Supervisor::on_exit(const std::string& id) {
  pool_.forget(id);
  LivePtr live = table_.lookup(id);
  if (!live) return;
  live->ending = true;
  post_([this, live, died_at = clock_.now()] {
    std::lock_guard busy(live->busy);
    note_death(*live, died_at);
    end(live);
  });
}

// Each sandbox is ended once only: when a killed one dies later, the watcher reports its exit.
void Supervisor::end_expired() {
  for (const std::string& id : table_.take_expired(uptime_.now() - settings_.ttl_grace)) {
    log::warn("sandbox outlived its ttl", {{"sandbox", id}});
    on_exit(id);
  }
}

}  // namespace sandgate
