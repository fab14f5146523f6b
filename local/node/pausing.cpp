#include <cstring>

#include "gateway/core/log.hpp"
#include "local/namespaces/freezer.hpp"
#include "local/namespaces/step_error.hpp"
#include "local/node/supervisor.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::seconds kFreezePatience{5};
constexpr std::chrono::milliseconds kBusyLook{10};

}  // namespace

Supervisor::LivePtr Supervisor::existing(const std::string& id) const {
  LivePtr live = lookup(id);
  if (!live) throw Error::not_found("sandbox", id);
  return live;
}

std::unique_lock<std::timed_mutex> Supervisor::hold(Live& live) {
  std::unique_lock busy(live.busy, std::defer_lock);
  while (!busy.try_lock_for(kBusyLook))
    if (live.copying || live.ending)
      throw Error(ErrorCode::conflict, "the sandbox's disk is being copied, or it ends");
  return busy;
}

// Called with live.busy held: who waited for it may find that the sandbox has ended meanwhile.
void Supervisor::check_alive(const Live& live) const {
  std::lock_guard lock(mutex_);
  if (live.gone || live.record.state != RecordState::running) {
    throw Error::not_found("sandbox", live.record.id);
  }
}

void Supervisor::note_paused(Live& live, bool paused) {
  note(live, [&](JournalRecord& record) { record.paused = paused; });
}

void Supervisor::stand_still(const JournalRecord& record) const {
  try {
    freeze(record.cgroups, kFreezePatience);
  } catch (const StepError& failure) {
    log::warn("sandbox not frozen", {{"sandbox", record.id},
                                     {"step", failure.what()},
                                     {"error", std::strerror(failure.number)}});
    if (failure.number == ETIMEDOUT)
      throw Error(ErrorCode::conflict, "a process of the sandbox cannot be stopped now");
    throw Error(ErrorCode::unsupported, "this sandbox cannot be stopped where it stands");
  }
}

void Supervisor::pause(const std::string& id) {
  LivePtr live = existing(id);
  const auto busy = hold(*live);
  check_alive(*live);
  if (live->record.paused) return;
  note_paused(*live, true);
  try {
    stand_still(live->record);
  } catch (const Error&) {
    note_paused(*live, false);
    throw;
  }
}

void Supervisor::resume(const std::string& id) {
  LivePtr live = existing(id);
  const auto busy = hold(*live);
  check_alive(*live);
  if (!live->record.paused) return;
  note_paused(*live, false);
  thaw(live->record.cgroups);
}

// At adoption: as the journal says, whatever an interrupted pause, resume or snapshot left.
void Supervisor::restore_pause(const JournalRecord& record) const {
  if (!record.paused) return thaw(record.cgroups);
  try {
    stand_still(record);
  } catch (const Error&) {
    // It runs on although it should not, which is said above; a restart must not end it.
  }
}

}  // namespace sandgate
