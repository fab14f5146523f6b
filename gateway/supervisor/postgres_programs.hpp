#pragma once
#include <filesystem>
#include <string>

namespace sandgate {

// Returns the directory of the PostgreSQL server programs for the cluster at `data`: those of the
// version that made it, which alone can run it, or the newest if there is no cluster yet.
// `versions` has a directory for each installed version, as on Debian; without one that fits, the
// places of other systems count, whose version is not known. Throws Error(unavailable) that says
// what to install.
std::string postgres_programs(const std::filesystem::path& data,
                              const std::filesystem::path& versions = "/usr/lib/postgresql");

}  // namespace sandgate
