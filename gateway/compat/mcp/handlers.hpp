#pragma once
#include "gateway/compat/mcp/message.hpp"
#include "gateway/compat/mcp/running_calls.hpp"
#include "gateway/compat/mcp/tool_calls.hpp"
#include "gateway/http/routes.hpp"

namespace sandgate::compat::mcp {

// /mcp: POST accepts one message, DELETE ends the session. GET is 405, because the server sends no
// unsolicited messages.
class Handlers {
 public:
  struct Settings {
    std::string profile;  // of sessions' own sandboxes; empty: sessions have none
    std::string origins;  // as `allowed` in check_origin
    std::string version;  // of this server
  };
  Handlers(Sessions& sessions, RunningCalls& running, ToolCalls::Ask ask, Settings settings)
      : sessions_(sessions),
        running_(running),
        calls_(std::move(ask), settings.profile),
        settings_(settings) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> post(http::Request& request);
  Task<http::Response> remove(http::Request& request);

 private:
  Task<http::Response> initialize(http::Request& request, const Message& message);
  Task<http::Response> call_tool(http::Request& request, Session& session, Message& message);
  Task<void> take_notification(const Session& session, const Message& message);

  Sessions& sessions_;
  RunningCalls& running_;
  ToolCalls calls_;
  const Settings settings_;
};

}  // namespace sandgate::compat::mcp
