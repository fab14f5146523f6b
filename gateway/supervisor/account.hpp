#pragma once
#include <sys/types.h>

#include <optional>
#include <string>

namespace sandgate {

// A user of this machine that a process may become.
struct SystemAccount {
  std::string name, home;
  uid_t uid = 0;
  gid_t gid = 0;
};

std::optional<SystemAccount> find_account(const std::string& name);
SystemAccount current_account();

// Creates a directory (parents too) owned by the account. Throws Error(unavailable) with the path.
void ensure_directory(const std::string& path, const SystemAccount& owner, mode_t mode);

// Becomes the account for good: groups, gid, uid. Async-signal-safe after fork; false on failure.
bool become(const SystemAccount& account) noexcept;

}  // namespace sandgate
