#pragma once
#include <memory>

#include "providers/agentcore/agentcore_runtime_wire.hpp"
#include "providers/agentcore/aws_event_stream.hpp"
#include "providers/agentcore/aws_keys.hpp"
#include "providers/sandbox_id_set.hpp"
#include "providers/shell/shell_provider.hpp"
#include "providers/transport/rest_api.hpp"

namespace sandgate {

struct AgentcoreRuntimeSettings {
  agentcore_runtime::Arn runtime;
  std::string qualifier;  // the endpoint of the runtime
  std::string api_url, control_url;
  bool network_deny = false;  // whether the runtime's network allows no outbound traffic or all
  DescriptorLimits limits;
  AwsKeys keys;
  bool allow_private = false;  // set for the operator's deployments
};

// Sessions of one agent runtime of Amazon Bedrock AgentCore. The vendor can neither list nor look
// up sessions, and a command starts a session for any id. A session that turns out not to be a
// sandbox is therefore stopped at once.
class AgentcoreRuntimeProvider : public ShellProvider {
 public:
  AgentcoreRuntimeProvider(HttpClient& http, asio::any_io_executor executor,
                           AgentcoreRuntimeSettings settings);

  Descriptor descriptor() const override;
  Resources granted(const Resources& asked) const override;
  Task<BackendSandbox> create(CreateSpec spec) override;
  Task<std::optional<BackendSandbox>> find(std::string id) override;
  Task<std::optional<BackendSandbox>> find_by_tag(std::string sandbox_id) override;
  // Only the sandboxes that this object has created, found or perhaps started by a question.
  Task<std::vector<BackendSandbox>> list() override;
  Task<void> kill(std::string id) override;

  Task<std::unique_ptr<ProcessStream>> exec(std::string id, Command command) override;

  // Throws Error(not_found) if the sandbox does not exist, after stopping the session that the line
  // started.
  Task<LineResult> run(std::string id, std::string line) override;

  // Runs a script in a session, starting the session if necessary; returns the events of the
  // answer. `silence` limits the time without a byte; 0: no limit.
  Task<std::unique_ptr<aws::EventMessageReader>> start(std::string id, std::string script,
                                                       std::chrono::milliseconds limit,
                                                       std::chrono::seconds silence);
  SandboxIdSet& seen() { return seen_; }

 private:
  // Reads the answer to start() to its end.
  static Task<LineResult> result_of(aws::EventMessageReader& events);
  std::string path(const char* operation) const;
  BackendSandbox box(const std::string& id) const;

  const AgentcoreRuntimeSettings settings_;
  RestApi api_, control_;
  SandboxIdSet seen_;
};

}  // namespace sandgate
