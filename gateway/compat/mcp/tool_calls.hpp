#pragma once
#include <functional>
#include <memory>
#include <string>

#include "gateway/compat/mcp/sessions.hpp"
#include "gateway/compat/mcp/tool.hpp"
#include "gateway/http/response.hpp"

namespace sandgate::compat::mcp {

// One tools/call, with all it needs after its request is gone.
struct ToolCall {
  http::Request origin;  // of whom, and from where; neither body nor headers that v1 must not see
  std::string idempotency_key;  // empty: none
  Session session;
  const Tool* tool = nullptr;
  Json arguments;
};

// Tools at work: each asks the v1 API's own routes in the name of its caller.
class ToolCalls {
 public:
  using Ask = std::function<Task<http::Response>(http::Request&)>;

  // `ask`: see Dispatcher::within. `profile`: of sessions' own sandboxes; empty: they have none.
  ToolCalls(Ask ask, std::string profile) : ask_(std::move(ask)), profile_(std::move(profile)) {}

  // The result of tools/call. What fails is a result too, with the problem document.
  Task<Json> run(std::shared_ptr<const ToolCall> call);

 private:
  struct Box {
    std::string id;  // empty: the tool needs none
    bool made = false;  // for this call
  };
  Task<Json> carry_out(std::shared_ptr<const ToolCall> call);
  Task<Box> box_for(std::shared_ptr<const ToolCall> call, const Plan& plan);
  Task<Answer> ask(std::shared_ptr<const ToolCall> call, const Plan& plan, std::string box);
  // Throws Error(invalid) when there is none.
  const std::string& profile() const;

  const Ask ask_;
  const std::string profile_;
};

// What of a request goes into a ToolCall.
http::Request origin_of(const http::Request& request);

}  // namespace sandgate::compat::mcp
