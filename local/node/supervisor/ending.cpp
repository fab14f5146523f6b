// How a supervisor's sandboxes end, on request or by themselves.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "gateway/core/log.hpp"
#include "local/namespaces/pidfd.hpp"
#include "local/node/supervisor/kill.hpp"
#include "local/node/supervisor/launch_failure.hpp"
#include "local/node/supervisor/supervisor.hpp"

namespace sandgate {
namespace {

// Works for processes that are not children, too: a pidfd is readable once its process is dead. The
// first process of a pid namespace dies last.
bool wait_gone(int pidfd, std::chrono::milliseconds timeout) {
  pollfd watched{pidfd, POLLIN, 0};
  bool gone = poll(&watched, 1, static_cast<int>(timeout.count())) == 1;
  siginfo_t info{};
  waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED | WNOHANG);
  return gone;
}

// Nearly all sandboxes are dead by then.
constexpr std::chrono::milliseconds kUnhurried{20};

// Whoever asked for a sandbox that failed waits for the answer.
constexpr std::chrono::milliseconds kGivenUp{1000};

// One a second.
constexpr int kLooksAtCounters = 60;

Error not_ended() { return Error(ErrorCode::timeout, "the sandbox does not end"); }

}  // namespace

void Supervisor::stop(LiveSandbox& live, std::chrono::milliseconds timeout) const {
  send_kill(live);
  const auto unhurried = std::min(timeout, kUnhurried);
  if (!live.pidfd || wait_gone(live.pidfd.get(), unhurried)) return;
  lift_cpu_limit(live.record.cgroups);
  if (!wait_gone(live.pidfd.get(), timeout - unhurried)) throw not_ended();
}

bool Supervisor::stop_and_mark_gone(const LivePtr& live, std::chrono::milliseconds timeout) {
  if (table_.is_gone(*live)) return false;
  stop(*live, timeout);
  table_.mark_gone(*live);
  return true;
}

void Supervisor::end(const LivePtr& live, std::chrono::milliseconds timeout) {
  if (stop_and_mark_gone(live, timeout)) cleanup_.add([this, live] { remove_traces(live); });
}

// It may be under another id than when the watcher was told of it, or not watched at all.
void Supervisor::give_up(const LivePtr& live) {
  live->killed = true;
  live->ending = true;
  try {
    end(live, kGivenUp);
  } catch (const Error& slow) {
    log::warn("a sandbox that failed ends late", {{"sandbox", live->record.id}});
    watcher_.add(live->record.id, live->pidfd.get());
  }
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
Supervisor::KillTarget Supervisor::lock_to_kill(const std::string& id,
                                                std::chrono::milliseconds timeout) const {
  LivePtr live = table_.lookup(id);
  if (!live) return {};
  if (live->ending.exchange(true)) timeout = {};
  std::unique_lock busy(live->busy, timeout);
  if (!busy) throw not_ended();
  live->killed = true;
  return {std::move(live), std::move(busy), timeout};
}

void Supervisor::kill(const std::string& id, std::chrono::milliseconds timeout) {
  cleanup_.note_activity();
  if (const KillTarget target = lock_to_kill(id, timeout); target.live)
    end(target.live, target.timeout);
}

std::optional<SandboxMetrics> Supervisor::finish(const std::string& id,
                                                 std::chrono::milliseconds timeout) {
  cleanup_.note_activity();
  const KillTarget target = lock_to_kill(id, timeout);
  const LivePtr& live = target.live;
  if (!live || !table_.lookup(id)) {  // unknown, died, or ended by another thread
    const auto known = final_usage_.find(id);
    return known ? std::optional(known->usage) : std::nullopt;
  }
  stop(*live, target.timeout);
  const SandboxMetrics counted = last_usage(live->record, clock_.now());
  // Before the sandbox is gone, so that its usage is never missing.
  final_usage_.append(id, {counted});
  end(live);
  return counted;
}

// What its dead programs had handed over is cut off before the bytes are counted: it would go on
// its way uncounted.
SandboxMetrics Supervisor::last_usage(const JournalRecord& record, Time end) {
  egress_.detach(record.id);
  SandboxMetrics counted;
  counted.cpu_micros = cgroups_->cpu_micros(record.cgroups);
  if (counted.cpu_micros < 0) throw StepError("read processor time", EMFILE);
  counted.egress_bytes = egress_.sent_bytes(record.id);
  counted.sampled_at = end;
  return counted;
}

// Also called for a sandbox that was ended on request. Its usage is recorded already, unless the
// request timed out before the exit.
void Supervisor::record_death(const LiveSandbox& live, Time died_at) {
  if (table_.is_gone(live) || live.record.state == RecordState::waiting) return;
  final_usage_.append(live.record.id, {last_usage(live.record, died_at), /*died=*/!live.killed});
}

void Supervisor::on_exit(const std::string& id) {
  pool_.forget(id);
  LivePtr live = table_.lookup(id);
  if (!live) return;
  live->ending = true;
  post_([this, death = Death{live, clock_.now()}] { end_dead(death); });
}

// While its counters cannot be read, for lack of descriptors or memory, it stays listed, since
// nobody asks again for the usage of what is gone.
void Supervisor::end_dead(Death death) {
  std::lock_guard busy(death.live->busy);
  try {
    record_death(*death.live, death.at);
  } catch (const StepError& failure) {
    const bool last = !is_lack_of_resources(failure) || ++death.looks == kLooksAtCounters;
    if (last || death.looks == 1)
      log::warn(last ? "a death is not kept" : "a death is not kept yet",
                {{"sandbox", death.live->record.id},
                 {"step", failure.what()},
                 {"error", std::strerror(failure.number)}});
    if (!last) {
      const std::lock_guard lock(unread_mutex_);
      return unread_.push_back(death);
    }
  }
  end(death.live);
}

void Supervisor::end_unread() {
  std::vector<Death> deaths;
  {
    const std::lock_guard lock(unread_mutex_);
    deaths.swap(unread_);
  }
  for (Death& death : deaths) post_([this, death = std::move(death)] { end_dead(death); });
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
      send_kill(*live);
      lift_cpu_limit(live->record.cgroups);
    });
  }
}

}  // namespace sandgate
