#pragma once
#include <filesystem>
#include <string>

namespace sandgate {

// The text of an untrusted tree's list of accounts or groups, a regular file; empty when it cannot
// be opened. Throws Error(invalid) beyond 1 MiB.
std::string account_file(const std::filesystem::path& path);

}  // namespace sandgate
