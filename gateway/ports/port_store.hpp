#pragma once
#include <optional>
#include <string>
#include <vector>

#include "gateway/core/database.hpp"
#include "gateway/core/ids.hpp"
#include "gateway/core/notifications.hpp"
#include "gateway/core/refreshing_cache.hpp"
#include "gateway/core/time.hpp"

namespace sandgate::ports {

// Stands for every port that is not open by its own number.
inline constexpr uint16_t kEveryPort = 0;

enum class Access { token, everyone };  // "token", "public"

// A port of a sandbox that is reachable from outside.
struct OpenPort {
  SandboxId sandbox;
  TenantId tenant;
  uint16_t port = 0;
  Access access = Access::token;
  std::string token_hash;  // empty when everyone may come
  std::string salt;  // of this opening: what its token is made of, beside key and request
  Time created_at;
  std::optional<Time> expires_at;  // empty: with the sandbox

  bool is_over(Time now) const { return expires_at && *expires_at <= now; }
};

// A repeated request to open a port is known by its Idempotency-Key.
struct Repeat {
  std::string key_hash;  // of tenant and key; empty: no key
  std::string request_hash;  // what the key is bound to
};

struct Opened {
  OpenPort port;
  bool repeated = false;  // it was there already, by the same request
};

// The rows of open ports, and those in use in memory; coherent through NOTIFY 'ports'.
class PortStore {
 public:
  static constexpr int64_t kMaxPerSandbox = 64;

  // Subscribes: before notifications start.
  PortStore(Database& database, Notifications& notifications);

  // Opens it, or changes it when it is open: then the old token ends. `lifetime` counts from now.
  // Throws quota_exceeded and, for a key that is bound to another request, conflict.
  Task<Opened> open(OpenPort port, std::optional<std::chrono::seconds> lifetime, Repeat repeat);
  Task<bool> close(SandboxId sandbox, uint16_t port);  // whether it was open
  // By number, kEveryPort first, without expired ones.
  Task<std::vector<OpenPort>> list(SandboxId sandbox);
  // Forgets those of ended sandboxes and those that expired a day ago.
  Task<void> purge();

  using Shared = std::shared_ptr<const OpenPort>;
  // From memory; expired ones too. Null: not open.
  Task<Shared> find(const SandboxId& sandbox, uint16_t port);
  std::optional<Shared> peek(const SandboxId& sandbox, uint16_t port);

 private:
  Database& database_;
  RefreshingCache<OpenPort> cache_;
};

std::string_view to_string(Access access);

}  // namespace sandgate::ports
