#pragma once
#include <chrono>
#include <string>
#include <vector>

namespace sandgate {

// Stopping all processes of a sandbox's control groups where they stand, and letting them go on;
// the same for version 1 (its freezer hierarchy) and 2. `directories` as CgroupEntry has them.

// Returns when every process stands still; new ones would too. Throws StepError: ENOTSUP without a
// freezer, ETIMEDOUT when one did not stop in time (all run again then).
void freeze(const std::vector<std::string>& directories, std::chrono::milliseconds patience);

// Also for groups that run or are gone; what is to die dies only now (version 1).
void thaw(const std::vector<std::string>& directories) noexcept;

}  // namespace sandgate
