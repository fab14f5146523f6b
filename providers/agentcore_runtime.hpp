#pragma once
#include <memory>

#include "providers/agentcore_runtime_wire.hpp"
#include "providers/aws_event_stream.hpp"
#include "providers/aws_keys.hpp"
#include "providers/rest_api.hpp"
#include "providers/seen_sandboxes.hpp"
#include "providers/shell_provider.hpp"

namespace sandgate {

struct AgentcoreRuntimeSettings {
  agentcore_runtime::Arn runtime;
  std::string qualifier;  // which endpoint of it
  std::string api_url, control_url;
  bool network_deny = false;  // what the runtime's network lets out: nothing, or everything
  DescriptorLimits limits;
  AwsKeys keys;
  bool allow_private = false;  // an operator's deployment
};

// Sessions of one agent runtime of Amazon Bedrock AgentCore. They can neither be listed nor asked
// for, and a command starts one for any id, so what turns out to be none of ours is ended at once.
class AgentcoreRuntimeProvider : public ShellProvider {
 public:
  AgentcoreRuntimeProvider(HttpClient& http, asio::any_io_executor executor,
                           AgentcoreRuntimeSettings settings);

  Descriptor descriptor() const override;
  Task<BackendSandbox> create(CreateSpec spec) override;
  Task<std::optional<BackendSandbox>> find(std::string id) override;
  Task<std::optional<BackendSandbox>> find_by_tag(std::string sandbox_id) override;
  // Those that this object has created or found.
  Task<std::vector<BackendSandbox>> list() override;
  Task<void> kill(std::string id) override;

  Task<std::unique_ptr<ProcessStream>> exec(std::string id, Command command) override;

  // Error(not_found) when the sandbox is not there, which then ends what was started for the line.
  Task<Ran> run(std::string id, std::string line) override;

  // Runs a script in a session, which is started if need be: what it answers. `silence` is how
  // long that may be without a byte; 0: for ever.
  Task<std::unique_ptr<aws::EventMessageReader>> start(std::string id, std::string script,
                                                       std::chrono::milliseconds limit,
                                                       std::chrono::seconds silence);

 private:
  Task<Ran> run_script(std::string id, std::string script);
  std::string path(const char* operation) const;
  BackendSandbox box(const std::string& id) const;

  const AgentcoreRuntimeSettings settings_;
  RestApi api_, control_;
  SeenSandboxes seen_;
};

}  // namespace sandgate
