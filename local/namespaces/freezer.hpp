#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "gateway/core/fd.hpp"

namespace sandgate {

// Freezing and thawing of all processes in a sandbox's control groups, with version 1 (freezer
// hierarchy) and version 2. `directories` are those of its CgroupEntry.

// Begins to freeze all processes and returns whether they are frozen within `timeout`. A process in
// a system call freezes when the call lets it, which may take any time; others that enter later are
// frozen, too. thaw() takes it back. Throws StepError (ENOTSUP: there is no freezer).
bool freeze(const std::vector<std::string>& directories, std::chrono::milliseconds timeout);

// Does nothing for groups that are running or gone, nor if no descriptor is to be had. With
// version 1, processes killed while frozen die only now.
void thaw(const std::vector<std::string>& directories) noexcept;

// Thaws as thaw() does, at any later time: it has its descriptor already.
class OpenFreezer {
 public:
  // Throws StepError if the machine lacks what opening takes. Groups that have no freezer, or are
  // gone, leave nothing to thaw.
  explicit OpenFreezer(const std::vector<std::string>& directories);
  void thaw() const noexcept;

 private:
  Fd switch_;
  bool v2_ = false;
};

}  // namespace sandgate
