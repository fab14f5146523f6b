#pragma once
#include <chrono>
#include <string>
#include <vector>

namespace sandgate {

// Freezing and thawing of all processes in a sandbox's control groups, with version 1 (freezer
// hierarchy) and version 2. `directories` are those of its CgroupEntry.

// Begins to freeze all processes and returns whether they are frozen within `timeout`. A process in
// a system call freezes when the call lets it, which may take any time; others that enter later are
// frozen, too. thaw() takes it back. Throws StepError (ENOTSUP: there is no freezer).
bool freeze(const std::vector<std::string>& directories, std::chrono::milliseconds timeout);

// Does nothing for groups that are running or gone. With version 1, processes killed while frozen
// die only now.
void thaw(const std::vector<std::string>& directories) noexcept;

}  // namespace sandgate
