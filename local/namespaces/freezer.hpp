#pragma once
#include <chrono>
#include <string>
#include <vector>

namespace sandgate {

// Freezing and thawing of all processes in a sandbox's control groups, with version 1 (freezer
// hierarchy) and version 2. `directories` are those of its CgroupEntry.

// Returns once every process is frozen; processes that enter later are frozen, too. Throws
// StepError: ENOTSUP without a freezer, ETIMEDOUT after `patience` (all processes run again then).
void freeze(const std::vector<std::string>& directories, std::chrono::milliseconds patience);

// Does nothing for groups that are running or gone. With version 1, processes killed while frozen
// die only now.
void thaw(const std::vector<std::string>& directories) noexcept;

}  // namespace sandgate
