#pragma once
#include <sys/types.h>

#include <optional>
#include <string>

namespace sandgate {

// A user of this machine that a process may become.
struct Account {
  std::string name, home;
  uid_t uid = 0;
  gid_t gid = 0;
};

std::optional<Account> find_account(const std::string& name);
Account current_account();

// Creates a directory (parents too) owned by the account. Throws Error(unavailable) with the path.
void ensure_directory(const std::string& path, const Account& owner, mode_t mode);

// Becomes the account for good: groups, gid, uid. Async-signal-safe after fork; false on failure.
bool become(const Account& account) noexcept;

}  // namespace sandgate
