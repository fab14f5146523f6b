#pragma once
#include "gateway/core/fd.hpp"
#include "local/node/supervisor/journal.hpp"

namespace sandgate {

// Opens a pidfd of the record's first process; empty when that has ended. Throws StepError when it
// cannot be told, for lack of descriptors or memory: the sandbox must not be taken for dead then.
Fd open_first_process(const JournalRecord& record);

}  // namespace sandgate
