#pragma once
#include <mutex>

#include "local/node/supervisor/sandbox_table.hpp"

namespace sandgate {

// Kills the sandbox, also a frozen one; the watcher reports its exit. Called with live.busy held.
void send_kill(LiveSandbox& live);

// Kills all programs of a sandbox but its agent. Those of a paused one die when it goes on.
void end_programs(const JournalRecord& record);

// As end_programs(), but ends a paused sandbox whole. `busy`: its own; while somebody else has it,
// a paused one stays for a later look.
void end_hoarder(LiveSandbox& live, const JournalRecord& record,
                 const std::unique_lock<std::timed_mutex>& busy);

}  // namespace sandgate
