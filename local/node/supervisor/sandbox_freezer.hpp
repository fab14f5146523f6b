#pragma once
#include <functional>
#include <string>

#include "gateway/core/time.hpp"
#include "local/namespaces/freezer.hpp"
#include "local/node/supervisor/sandbox_table.hpp"

namespace sandgate {

// Pauses and resumes the sandboxes of a table by freezing their processes; memory is kept.
// Thread-safe.
class SandboxFreezer {
 public:
  explicit SandboxFreezer(SandboxTable& table) : table_(table) {}

  // Does nothing if the sandbox is paused. Throws Error: not_found, unsupported, timeout (to be
  // called again: a process is not frozen yet, or the sandbox is busy), conflict (a process was not
  // frozen for 5 s and all run on, or the disk is being copied, or the sandbox ends), no_capacity
  // (the node is short of descriptors or memory); and StepError for such a lack.
  void pause(const std::string& id);
  void resume(const std::string& id);  // throws likewise; then it is paused still

  // For a copy, with live.busy held: returns when it is frozen. Calls `check` now and then, which
  // may throw to give up. Throws Error(conflict, unsupported, no_capacity).
  void wait_until_frozen(const LiveSandbox& live, const std::function<void()>& check) const;
  // On adoption, begins to freeze or thaws the sandbox according to the journal: a pause, resume or
  // snapshot may have been interrupted.
  void restore(const JournalRecord& record) const;

 private:
  void note_paused(LiveSandbox& live, bool paused);
  void undo_pause(LiveSandbox& live, const OpenFreezer& freezer);

  SandboxTable& table_;
  UptimeClock uptime_;
};

}  // namespace sandgate
