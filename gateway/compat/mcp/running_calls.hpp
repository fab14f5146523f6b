#pragma once
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "gateway/compat/mcp/sessions.hpp"
#include "gateway/core/auto_reset_event.hpp"
#include "gateway/core/json_reader.hpp"
#include "gateway/core/notifications.hpp"

namespace sandgate::compat::mcp {

// The calls of tools that run on this gateway. Their client can cancel them through any gateway of
// the database. A call is known by its session and the id of its request; since a session belongs
// to one key, nobody reaches another's.
class RunningCalls {
 public:
  // Construct before notifications.start().
  RunningCalls(Database& database, Notifications& notifications);

  // Ends as `call` does, or returns empty once its client cancelled it; then `call` was cancelled.
  Task<std::optional<Json>> run(SessionId session, Json id, Task<Json> call);
  // Cancels the call on the gateway where it runs. One that is unknown is ignored: it has ended.
  Task<void> cancel(SessionId session, Json id);
  // Cancels the session's calls on all gateways.
  Task<void> cancel_all(SessionId session);

 private:
  class Entry;
  // Cancels a call, or all calls of the session if that is all that the name has. Returns whether
  // there was one here. Thread-safe.
  bool cancel_here(const std::string& name);
  Task<void> tell_others(std::string name);

  Database& database_;
  std::mutex mutex_;
  std::multimap<std::string, AutoResetEvent*> running_;  // by name; some clients reuse ids
};

}  // namespace sandgate::compat::mcp
