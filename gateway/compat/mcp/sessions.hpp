#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gateway/http/request.hpp"
#include "gateway/sandboxes/lifecycle.hpp"

namespace sandgate::compat::mcp {

using SessionId = Id<'m', 's'>;

// An open session.
struct Session {
  SessionId id;
  std::string sandbox;  // id of its own sandbox, unless that has ended; empty: none
  bool runs = false;  // whether that sandbox is running
  // Seconds to live that use has to give that sandbox, its own time to live; 0: nine tenths of that
  // or more are left.
  int64_t extend_to = 0;
};

// MCP sessions, stored in the database, so that all its gateways know them and they survive
// restarts. A session belongs to one key of one tenant and is invisible to others. It ends, with
// its sandbox, after a day without use.
class Sessions {
 public:
  // Open sessions per tenant. At the limit, sessions without a sandbox that were idle for ten
  // minutes are ended.
  static constexpr int64_t kMaxOpen = 10'000;

  Sessions(Database& database, Lifecycle& lifecycle) : database_(database), lifecycle_(lifecycle) {}

  // Throws Error(quota_exceeded) at the limit of sessions, Error(invalid) without a tenant.
  Task<SessionId> open(const http::Request& request);
  // Returns the session in the header Mcp-Session-Id and marks it as used. Throws Error(invalid)
  // without the header, Error(not_found) if the session is unknown, has ended or belongs to another
  // key.
  Task<Session> find(const http::Request& request);
  // Ends the session, but not its sandbox yet. Throws as find() does.
  Task<SessionId> end(const http::Request& request);
  // Ends the sandbox of a session that has ended. If it fails, sweep() does it.
  Task<void> end_sandbox(SessionId session);
  // Ends unused sessions and sandboxes of ended sessions; deletes sessions that ended an hour ago.
  Task<void> sweep();

 private:
  // A sandbox that outlived its session.
  using Leftover = std::pair<TenantId, SandboxId>;
  // Returns live sandboxes of ended sessions: of `session`, or of all if empty; at most 500.
  static std::vector<Leftover> leftovers_of(pqxx::work& tx, const std::string& session);
  Task<void> end_sandboxes(std::vector<Leftover> left);

  Database& database_;
  Lifecycle& lifecycle_;  // ends sandboxes
};

}  // namespace sandgate::compat::mcp
