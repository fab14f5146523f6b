#include <cstring>

#include "gateway/core/log.hpp"
#include "local/namespaces/freezer.hpp"
#include "local/namespaces/step_error.hpp"
#include "local/node/supervisor.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::seconds kFreezePatience{5};

}  // namespace

void Supervisor::note_paused(LiveSandbox& live, bool paused) {
  table_.note(live, [&](JournalRecord& record) { record.paused = paused; });
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
  LivePtr live = table_.existing(id);
  const auto busy = hold(*live);
  table_.check_alive(*live);
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
  LivePtr live = table_.existing(id);
  const auto busy = hold(*live);
  table_.check_alive(*live);
  if (!live->record.paused) return;
  note_paused(*live, false);
  thaw(live->record.cgroups);
}

// On adoption, freezes or thaws the sandbox according to the journal: a pause, resume or snapshot
// may have been interrupted.
void Supervisor::restore_pause(const JournalRecord& record) const {
  if (!record.paused) return thaw(record.cgroups);
  try {
    stand_still(record);
  } catch (const Error&) {
    // stand_still() has logged it. The sandbox runs on, because a restart must not end it.
  }
}

}  // namespace sandgate
