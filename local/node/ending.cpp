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

// Works for processes that are not children, too: a pidfd is readable once its process is dead. The
// first process of a pid namespace dies last.
bool wait_gone(int pidfd, std::chrono::milliseconds patience) {
  pollfd watched{pidfd, POLLIN, 0};
  bool gone = poll(&watched, 1, static_cast<int>(patience.count())) == 1;
  siginfo_t info{};
  waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED | WNOHANG);
  return gone;
}

Error not_ended() { return Error(ErrorCode::timeout, "the sandbox does not end"); }

}  // namespace

void Supervisor::strike(LiveSandbox& live) const {
  if (!live.pidfd) return;
  kill_by_pidfd(live.pidfd);
  if (live.record.paused) thaw(live.record.cgroups);  // frozen processes do not die
}

void Supervisor::stop(LiveSandbox& live, std::chrono::milliseconds patience) const {
  strike(live);
  if (live.pidfd && !wait_gone(live.pidfd.get(), patience)) throw not_ended();
}

bool Supervisor::halt(const LivePtr& live, std::chrono::milliseconds patience) {
  if (table_.is_gone(*live)) return false;
  stop(*live, patience);
  table_.retire(*live);
  return true;
}

void Supervisor::end(const LivePtr& live, std::chrono::milliseconds patience) {
  if (halt(live, patience)) tidying_.add([this, live] { remove_traces(live); });
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
Supervisor::Doomed Supervisor::hold_to_end(const std::string& id,
                                           std::chrono::milliseconds patience) const {
  LivePtr live = table_.lookup(id);
  if (!live) return {};
  if (live->ending.exchange(true)) patience = {};
  std::unique_lock busy(live->busy, patience);
  if (!busy) throw not_ended();
  live->killed = true;
  return {std::move(live), std::move(busy), patience};
}

void Supervisor::kill(const std::string& id, std::chrono::milliseconds patience) {
  tidying_.disturb();
  if (const Doomed doomed = hold_to_end(id, patience); doomed.live)
    end(doomed.live, doomed.patience);
}

std::optional<SandboxMetrics> Supervisor::finish(const std::string& id,
                                                 std::chrono::milliseconds patience) {
  tidying_.disturb();
  const Doomed doomed = hold_to_end(id, patience);
  const LivePtr& live = doomed.live;
  if (!live || !table_.lookup(id)) {  // unknown, died, or ended by another thread
    const auto known = ends_.find(id);
    return known ? std::optional(known->counted) : std::nullopt;
  }
  stop(*live, doomed.patience);
  const SandboxMetrics counted = last_usage(live->record, clock_.now());
  // Before the sandbox is gone, so that its usage is never missing.
  ends_.remember(id, {counted});
  end(live);
  return counted;
}

// What its dead programs had handed over is cut off before the bytes are counted: it would go on
// its way uncounted.
SandboxMetrics Supervisor::last_usage(const JournalRecord& record, Time end) {
  egress_.detach(record.id);
  SandboxMetrics counted;
  counted.cpu_micros = cgroups_->cpu_micros(record.cgroups);
  counted.egress_bytes = egress::read_byte_count(byte_count_of(record.id));
  counted.sampled_at = end;
  return counted;
}

// The exit of a sandbox that was ended on request is noticed too, and says nothing new unless
// nobody waited for it.
void Supervisor::note_death(const LiveSandbox& live, Time died_at) {
  if (table_.is_gone(live) || live.record.state == RecordState::waiting) return;
  keep_end(live.record, died_at, /*died=*/!live.killed);
}

void Supervisor::keep_end(const JournalRecord& record, Time end, bool died) {
  try {
    ends_.remember(record.id, {last_usage(record, end), died});
  } catch (const std::exception& failure) {
    log::warn("a death is not kept", {{"sandbox", record.id}, {"reason", failure.what()}});
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

// Each sandbox is killed once only. The watcher reports its exit.
void Supervisor::end_expired() {
  for (const std::string& id : table_.take_expired(uptime_.now() - settings_.ttl_grace)) {
    log::warn("sandbox outlived its ttl", {{"sandbox", id}});
    LivePtr live = table_.lookup(id);
    if (!live) continue;
    live->ending = true;
    post_([this, live] {
      std::lock_guard busy(live->busy);
      strike(*live);
    });
  }
}

}  // namespace sandgate
