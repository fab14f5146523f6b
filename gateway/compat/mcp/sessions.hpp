#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gateway/http/request.hpp"
#include "gateway/sandboxes/lifecycle.hpp"

namespace sandgate::compat::mcp {

using SessionId = Id<'m', 's'>;

// An open session, as it is found.
struct Session {
  SessionId id;
  std::string sandbox;  // its own one that has not ended; empty: none
  bool runs = false;  // that one
};

// Sessions as rows, so that every gateway of the database knows them, also after a restart. A
// session is of one key of one tenant; to all others it does not exist. One that nobody used for a
// day ends. With a session ends its sandbox.
class Sessions {
 public:
  // Of one tenant at a time.
  static constexpr int64_t kMostOpen = 10'000;

  Sessions(Database& database, Lifecycle& lifecycle) : database_(database), lifecycle_(lifecycle) {}

  // Throws Error(quota_exceeded) when the tenant has too many, Error(invalid) without a tenant.
  Task<SessionId> open(const http::Request& request);
  // The session that the request's Mcp-Session-Id names, used now. Throws Error(invalid) without
  // the header, Error(not_found) for one that is unknown, has ended or is somebody else's.
  Task<Session> find(const http::Request& request);
  // Ends it and its sandbox. Throws as find.
  Task<void> end(const http::Request& request);
  // Ends what nobody used, and the sandboxes that sessions left behind; forgets old ones.
  Task<void> sweep();

 private:
  // Sandboxes by tenant and id.
  using Left = std::pair<TenantId, SandboxId>;
  // Of sessions that ended what lives in their scopes: of one of them, or (empty) of all.
  static std::vector<Left> left_behind(pqxx::work& tx, const std::string& session);
  Task<void> end_sandboxes(std::vector<Left> left);

  Database& database_;
  Lifecycle& lifecycle_;  // ends their sandboxes
};

}  // namespace sandgate::compat::mcp
