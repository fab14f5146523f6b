#pragma once
#include <sys/types.h>

#include <optional>
#include <string>

namespace sandgate {

// A user of this machine that a process may become.
struct SystemAccount {
  std::string name;
  uid_t uid = 0;
  gid_t gid = 0;
};

std::optional<SystemAccount> find_account(const std::string& name);
SystemAccount current_account();

// What to do where a symbolic link stands in a directory's place.
enum class Link { refuse, follow };
// Creates a directory (parents too) owned by the account. A link is refused, unless an operator may
// have laid it: whoever may write beside it would have root change what it leads to. Throws
// Error(unavailable) with the path.
void ensure_directory(const std::string& path, const SystemAccount& owner, mode_t mode,
                      Link link = Link::refuse);

// Becomes the account for good: groups, gid, uid. Async-signal-safe after fork; false on failure.
bool become(const SystemAccount& account) noexcept;

}  // namespace sandgate
