#include "local/node/supervisor/sandbox_freezer.hpp"

#include <cstring>

#include "gateway/core/log.hpp"
#include "local/namespaces/freezer.hpp"
#include "local/namespaces/step_error.hpp"
#include "local/node/supervisor/launch_failure.hpp"
#include "local/node/supervisor/thaw_guard.hpp"

namespace sandgate {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::chrono::seconds kFreezeTimeout{5};
// Nearly all processes freeze sooner.
constexpr std::chrono::milliseconds kUsualFreeze{20}, kAdoptedFreeze{100};

Error not_frozen(ErrorCode code) {
  return Error(code, "a process of the sandbox cannot be stopped now");
}

// Begins to freeze it, and returns whether it is frozen after `timeout`. Throws Error(unsupported),
// and no_capacity if it may be frozen later.
bool try_freeze(const JournalRecord& record, std::chrono::milliseconds timeout) {
  try {
    return freeze(record.cgroups, timeout);
  } catch (const StepError& failure) {
    log::warn("sandbox not frozen", {{"sandbox", record.id},
                                     {"step", failure.what()},
                                     {"error", std::strerror(failure.number)}});
    if (is_lack_of_resources(failure))
      throw Error(ErrorCode::no_capacity, std::string("the machine lacks what a pause takes: ") +
                                              std::strerror(failure.number));
    throw Error(ErrorCode::unsupported, "this sandbox cannot be frozen");
  }
}

}  // namespace

void SandboxFreezer::note_paused(LiveSandbox& live, bool paused) {
  table_.update(live, [&](JournalRecord& record) {
    record.paused = paused;
    record.paused_at = paused ? uptime_.now() : Time();
  });
}

// Also what is paused, because a node that adopts it does not wait until it is frozen.
void SandboxFreezer::wait_until_frozen(const LiveSandbox& live,
                                       const std::function<void()>& check) const {
  const auto limit = Steady::now() + kFreezeTimeout;
  while (!try_freeze(live.record, kUsualFreeze)) {
    check();
    if (Steady::now() > limit) throw not_frozen(ErrorCode::conflict);
  }
}

void SandboxFreezer::undo_pause(LiveSandbox& live, const OpenFreezer& freezer) {
  live.freezing_until.reset();
  const Time since = live.record.paused_at;
  note_paused(live, false);
  thaw_and_tell(live, freezer, since);
}

// The journal and find() say paused from the first call on, so that a supervisor which adopts the
// sandbox goes on with it.
void SandboxFreezer::pause(const std::string& id) {
  LivePtr live = table_.get(id);
  const auto busy = lock_sandbox(*live);
  table_.check_alive(*live);
  const bool begins = !live->record.paused;
  if (!begins && !live->freezing_until) return;
  const OpenFreezer freezer(live->record.cgroups);  // so that it can be undone
  if (begins) {
    note_paused(*live, true);
    live->freezing_until = Steady::now() + kFreezeTimeout;
  }
  try {
    if (try_freeze(live->record, begins ? kUsualFreeze : kUsualFreeze * 0))
      return live->freezing_until.reset();
    throw not_frozen(Steady::now() < *live->freezing_until ? ErrorCode::timeout
                                                           : ErrorCode::conflict);
  } catch (const Error& failure) {
    if (failure.code != ErrorCode::timeout) undo_pause(*live, freezer);
    throw;
  }
}

void SandboxFreezer::resume(const std::string& id) {
  LivePtr live = table_.get(id);
  const auto busy = lock_sandbox(*live);
  table_.check_alive(*live);
  if (live->record.paused) undo_pause(*live, OpenFreezer(live->record.cgroups));
}

void SandboxFreezer::restore(const JournalRecord& record) const {
  if (!record.paused) return thaw(record.cgroups);
  try {
    try_freeze(record, kAdoptedFreeze);
  } catch (const Error&) {
    // try_freeze() has logged it. The sandbox runs on, because a restart must not end it.
  }
}

}  // namespace sandgate
