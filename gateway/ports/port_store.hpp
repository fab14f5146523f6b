#pragma once
#include <optional>
#include <string>
#include <vector>

#include "gateway/core/database.hpp"
#include "gateway/core/ids.hpp"
#include "gateway/core/notifications.hpp"
#include "gateway/core/refreshing_cache.hpp"
#include "gateway/core/time.hpp"
#include "gateway/core/words.hpp"

namespace sandgate::ports {

// Port number of the row that opens all ports without a row of their own.
inline constexpr uint16_t kEveryPort = 0;

enum class Access { token, everyone };
inline constexpr Words kAccessWords({Word{Access::token, "token"},
                                     Word{Access::everyone, "public"}});

// A port of a sandbox that is open to the outside.
struct OpenPort {
  SandboxId sandbox;
  TenantId tenant;
  uint16_t port = 0;
  Access access = Access::token;
  std::string token_hash;  // empty for Access::everyone
  std::string salt;  // tells this opening from earlier and later ones
  Time created_at;
  std::optional<Time> expires_at;  // empty: open until the sandbox ends

  bool is_expired(Time now) const { return expires_at && *expires_at <= now; }
};

// The table of open ports, with a cache that NOTIFY 'ports' invalidates.
class PortStore {
 public:
  static constexpr int64_t kMaxPerSandbox = 64;

  // Subscribes to notifications; construct before they start.
  PortStore(Database& database, Notifications& notifications);

  // Opens the port, or replaces its opening and ends the old token. `lifetime` counts from now.
  // `claim`: of the request's Idempotency-Key, or empty. Throws quota_exceeded.
  Task<OpenPort> open(OpenPort port, std::optional<std::chrono::seconds> lifetime,
                      std::string claim = "");
  Task<bool> close(SandboxId sandbox, uint16_t port);  // whether it was open
  // In order of number, kEveryPort first; without expired ones.
  Task<std::vector<OpenPort>> list(SandboxId sandbox);
  // Deletes ports whose sandbox ended over a day ago, and those that expired then, unless all ports
  // of the sandbox are open.
  Task<void> purge();

  using Shared = std::shared_ptr<const OpenPort>;
  // Cached; includes expired ports. Null: not open. peek(): empty when not cached.
  Task<Shared> find(const SandboxId& sandbox, uint16_t port);
  std::optional<Shared> peek(const SandboxId& sandbox, uint16_t port);

 private:
  Database& database_;
  RefreshingCache<OpenPort> cache_;
};

}  // namespace sandgate::ports
