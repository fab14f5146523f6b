#pragma once
#include "local/node/supervisor/sandbox_table.hpp"

namespace sandgate {

// Opens a sandbox's file system through /proc, the only access to an adopted one. Empty: gone.
Fd open_root(const JournalRecord& record);

// Writes all dirty data of the sandbox to its disk image. Called with live.busy held. Throws
// StepError; for an adopted sandbox, earlier write errors are not reported.
void flush_disk(const LiveSandbox& live);

}  // namespace sandgate
