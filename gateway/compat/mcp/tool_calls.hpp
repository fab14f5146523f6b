#pragma once
#include <functional>
#include <memory>
#include <string>

#include "gateway/compat/mcp/sessions.hpp"
#include "gateway/compat/mcp/tool.hpp"
#include "gateway/http/response.hpp"

namespace sandgate::compat::mcp {

// A tools/call with all data it needs once its request is gone.
struct ToolCall {
  http::Request origin;  // the caller and connection; no body, and only some of the headers
  std::string idempotency_key;  // empty: none
  Session session;
  const Tool* tool = nullptr;
  Json arguments;
};

// Runs tools by calling the v1 API's routes on behalf of the caller.
class ToolCalls {
 public:
  using Ask = std::function<Task<http::Response>(http::Request&)>;

  // `ask` as in Dispatcher::subrequest. `profile` is for sessions' own sandboxes; empty: they have
  // none.
  ToolCalls(Ask ask, std::string profile) : ask_(std::move(ask)), profile_(std::move(profile)) {}

  // Returns the result of tools/call. A failure is a result with the problem document, which also
  // says whether a sandbox was created for the call.
  Task<Json> run(std::shared_ptr<const ToolCall> call);

 private:
  struct Box {
    std::string id;  // empty: the tool uses none
    bool made = false;  // created for this call
  };
  // Fills `box` before the call that may fail.
  Task<Json> carry_out(std::shared_ptr<const ToolCall> call, Box& box);
  Task<Box> box_for(std::shared_ptr<const ToolCall> call, const Plan& plan);
  // Extends the session's own sandbox. Ignores refusals: the call is made while there is time left.
  Task<void> extend(std::shared_ptr<const ToolCall> call);
  Task<Answer> ask(std::shared_ptr<const ToolCall> call, const Plan& plan, std::string box);
  // Throws Error(invalid) if no profile is configured.
  const std::string& profile() const;

  const Ask ask_;
  const std::string profile_;
};

// Copies the parts of a request that a ToolCall keeps.
http::Request origin_of(const http::Request& request);

}  // namespace sandgate::compat::mcp
