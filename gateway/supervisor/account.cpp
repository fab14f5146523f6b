#include "gateway/supervisor/account.hpp"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "gateway/core/error.hpp"
#include "gateway/core/fd.hpp"

namespace sandgate {
namespace {

SystemAccount from_passwd(const passwd& entry) {
  return {entry.pw_name, entry.pw_uid, entry.pw_gid};
}

// Whether root gave this directory to a group of ours, as volumes are given to containers. Only its
// owner may change the mode then.
bool is_given(int directory, const std::string& path) {
  struct stat status {};
  return geteuid() != 0 && fstat(directory, &status) == 0 && status.st_uid == 0 &&
         (status.st_mode & S_IWOTH) == 0 && access(path.c_str(), R_OK | W_OK | X_OK) == 0;
}

bool set_mode(int directory, const std::string& path, mode_t mode) {
  if (fchmod(directory, mode) == 0) return true;
  const int reason = errno;
  if (reason == EPERM && is_given(directory, path)) return true;
  errno = reason;
  return false;
}

}  // namespace

std::optional<SystemAccount> find_account(const std::string& name) {
  const passwd* entry = getpwnam(name.c_str());
  if (!entry) return std::nullopt;
  return from_passwd(*entry);
}

SystemAccount current_account() {
  const passwd* entry = getpwuid(geteuid());
  if (entry) return from_passwd(*entry);
  return {std::to_string(geteuid()), geteuid(), getegid()};
}

void ensure_directory(const std::string& path, const SystemAccount& owner, mode_t mode, Link link) {
  std::error_code failure;
  const bool refused = link == Link::refuse && std::filesystem::is_symlink(path, failure);
  if (!refused) std::filesystem::create_directories(path, failure);
  const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (link == Link::refuse ? O_NOFOLLOW : 0);
  const Fd directory(open(path.c_str(), flags));
  // Changes go through the descriptor, so that the checked directory is the one changed.
  const bool ok = directory && set_mode(directory.get(), path, mode) &&
                  (geteuid() != 0 || fchown(directory.get(), owner.uid, owner.gid) == 0);
  if (ok) return;
  const int reason = errno;
  throw Error(ErrorCode::unavailable,
              "cannot prepare " + path + ": " +
                  (refused   ? "it is a symbolic link, which is not followed here"
                   : failure ? failure.message()
                             : std::strerror(reason)) +
                  "; check the disk and the owner, or set another SANDGATE_HOME");
}

bool switch_to_account(const SystemAccount& account) noexcept {
  if (geteuid() != 0) return geteuid() == account.uid;
  return setgroups(0, nullptr) == 0 && setresgid(account.gid, account.gid, account.gid) == 0 &&
         setresuid(account.uid, account.uid, account.uid) == 0;
}

}  // namespace sandgate
