#pragma once
#include <sys/types.h>

#include <optional>
#include <string>

namespace sandgate {

// A system account that a process can run as.
struct SystemAccount {
  std::string name;
  uid_t uid = 0;
  gid_t gid = 0;
};

std::optional<SystemAccount> find_account(const std::string& name);
SystemAccount current_account();

// What to do if the path is a symbolic link.
enum class Link { refuse, follow };
// Creates a directory and its parents, owned by the account with `mode`. Refuses a link by default:
// an account that can write next to it could make root change another directory. Without root, one
// that root gave to a group of this process, but not to everybody, stays as it is. Throws
// Error(unavailable) with the path.
void ensure_directory(const std::string& path, const SystemAccount& owner, mode_t mode,
                      Link link = Link::refuse);

// Switches permanently to the account: groups, gid, uid. Async-signal-safe. False on failure.
bool switch_to_account(const SystemAccount& account) noexcept;

}  // namespace sandgate
