#include "local/agent/processes/identity.hpp"

#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <string_view>

#include "gateway/core/error.hpp"
#include "gateway/core/number_text.hpp"
#include "local/agent/files/file.hpp"

namespace sandgate::agent {
namespace {

constexpr size_t kMaxAccountFile = 1024 * 1024;
constexpr size_t kMaxGroups = 64;
constexpr uint32_t kMaxGid = 65535;  // a sandbox has no others, and no files of them

constexpr uint64_t bit(int capability) { return uint64_t{1} << capability; }

std::string_view next_part(std::string_view& text, char separator) {
  const size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

std::optional<uint32_t> account_id_from(std::string_view text) {
  const auto id = number_from<uint32_t>(text);
  return id == UINT32_MAX ? std::nullopt : id;
}

std::optional<Identity> parse_account(std::string_view line) {
  Identity identity;
  identity.name = next_part(line, ':');
  next_part(line, ':');
  const auto uid = account_id_from(next_part(line, ':'));
  const auto gid = account_id_from(next_part(line, ':'));
  next_part(line, ':');
  identity.home = next_part(line, ':');
  if (identity.name.empty() || !uid || !gid) return std::nullopt;
  if (identity.home.empty() || identity.home[0] != '/') identity.home = "/";
  identity.uid = *uid;
  identity.gid = *gid;
  return identity;
}

std::optional<Identity> find_account(const std::string& name) {
  const std::string text = read_small_file("/etc/passwd", kMaxAccountFile);
  const auto wanted_uid = account_id_from(name);
  for (std::string_view rest = text; !rest.empty();) {
    const auto account = parse_account(next_part(rest, '\n'));
    if (account && (account->name == name || (wanted_uid && account->uid == *wanted_uid)))
      return account;
  }
  return std::nullopt;
}

// Leaves out gid 0 where root is not allowed: a program inside may edit /etc/group, and this group
// would give it more rights. So would the observers.
std::vector<uint32_t> groups_of(const Identity& identity, const AgentSettings& settings) {
  std::vector<uint32_t> groups{identity.gid};
  const uint32_t observers = settings.observers;
  if (observers != 0 && identity.root()) groups.push_back(observers);
  const std::string text = read_small_file("/etc/group", kMaxAccountFile);
  for (std::string_view rest = text; !rest.empty() && groups.size() < kMaxGroups;) {
    std::string_view line = next_part(rest, '\n');
    next_part(line, ':');
    next_part(line, ':');
    const auto gid = account_id_from(next_part(line, ':'));
    if (!gid || *gid == identity.gid || (*gid == 0 && !settings.allow_root)) continue;
    if (*gid > kMaxGid || (observers != 0 && *gid == observers)) continue;
    while (!line.empty())
      if (next_part(line, ',') == identity.name) groups.push_back(*gid);
  }
  return groups;
}

bool limit_bounding_set(uint64_t most, uint64_t keep) {
  for (int capability = 0; capability < 64; ++capability) {
    if (!(most & bit(capability))) continue;
    const int held = ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0);
    if (held < 0) return errno == EINVAL && capability > 0;  // beyond the kernel's last capability
    if (held == 1 && !(keep & bit(capability)) &&
        ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0)
      return false;
  }
  return true;
}

bool set_capabilities(uint64_t keep) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> sets{};
  if (::syscall(SYS_capget, &header, sets.data()) != 0) return false;
  for (size_t half = 0; half < 2; ++half) {
    sets[half].permitted &= static_cast<uint32_t>(keep >> (32 * half));
    sets[half].effective = sets[half].permitted;
    sets[half].inheritable = 0;
  }
  if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) return false;
  return ::syscall(SYS_capset, &header, sets.data()) == 0;
}

// With a limit of 0 the kernel still runs a piped core_pattern helper, outside the sandbox; with a
// limit of 1 it does not.
bool forbid_core_dumps() {
  rlimit core{};
  if (::getrlimit(RLIMIT_CORE, &core) != 0) return false;
  if (core.rlim_max <= 1) return true;
  core = {1, 1};
  return ::setrlimit(RLIMIT_CORE, &core) == 0;
}

bool set_groups(const Identity& identity) {
  const std::vector<gid_t> groups(identity.groups.begin(), identity.groups.end());
  // Without a mapping of groups, setgroups is denied for good; that is safe only with no groups.
  if (::setgroups(groups.size(), groups.data()) != 0 &&
      !(errno == EPERM && ::getgroups(0, nullptr) == 0))
    return false;
  return true;
}

bool set_ids(const Identity& identity) {
  if (::setresgid(identity.gid, identity.gid, identity.gid) != 0) return false;
  return ::setresuid(identity.uid, identity.uid, identity.uid) == 0;
}

}  // namespace

Identity find_identity(const std::string& name, const AgentSettings& settings) {
  const Account& fallback = settings.account;
  if (settings.single_id) {
    if (!name.empty() && name != fallback.name)
      throw Error(ErrorCode::unsupported, "this sandbox has one account only");
    return Identity{fallback.name, 0, 0, fallback.home, {}};
  }
  std::optional<Identity> found = find_account(name.empty() ? fallback.name : name);
  if (!found && (name.empty() || name == fallback.name))
    found = Identity{fallback.name, fallback.uid, fallback.gid, fallback.home, {}};
  if (!found) throw Error::invalid("/user", "the sandbox has no such account");
  // Only the image's default account may have gid 0; a program inside could give it to any other.
  const bool roots_group = found->gid == 0 && fallback.gid != 0;
  if ((found->root() || roots_group) && !settings.allow_root)
    throw Error(ErrorCode::forbidden, "the profile does not allow root: allow_root is not set");
  found->groups = groups_of(*found, settings);
  return *found;
}

uint64_t read_bounding_set() {
  uint64_t set = 0;
  for (int capability = 0; capability < 64; ++capability)
    if (::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) == 1) set |= bit(capability);
  return set;
}

bool switch_identity(const Identity& identity, const AgentSettings& settings) {
  const uint64_t keep = identity.root() && !settings.single_id ? settings.root_capabilities : 0;
  if (!forbid_core_dumps()) return false;
  if (::geteuid() == 0) {
    if (!limit_bounding_set(settings.bounding_set, keep) ||
        (!settings.single_id && !set_groups(identity)))
      return false;
    if (!set_ids(identity)) return false;
    if (!set_capabilities(keep)) return false;
  } else if (identity.uid != ::geteuid()) {
    return false;  // an agent without privileges cannot change its identity
  }
  if (settings.no_new_privileges && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  return !settings.confine || settings.confine(settings.confine_data, identity.root());
}

}  // namespace sandgate::agent
