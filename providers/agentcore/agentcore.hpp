#pragma once
#include <memory>

#include "providers/agentcore/agentcore_wire.hpp"
#include "providers/agentcore/aws_keys.hpp"
#include "providers/shell/shell_provider.hpp"
#include "providers/transport/rest_api.hpp"

namespace sandgate {

struct AgentcoreSettings {
  std::string api_url;  // of the region
  std::string region;
  agentcore::CreateRules rules;
  DescriptorLimits limits;
  AwsKeys keys;
  bool allow_private = false;  // set for the operator's deployments
};

// Sessions of one Code Interpreter of Amazon Bedrock AgentCore, with our id as their name. A tool
// answers only when it has ended, so commands run as SpooledProcess.
class AgentcoreProvider : public ShellProvider {
 public:
  AgentcoreProvider(HttpClient& http, asio::any_io_executor executor, AgentcoreSettings settings);

  Descriptor descriptor() const override;
  Resources granted(const Resources& asked) const override;
  Task<BackendSandbox> create(CreateSpec spec) override;
  Task<std::optional<BackendSandbox>> find(std::string id) override;
  Task<std::vector<BackendSandbox>> list() override;
  Task<void> kill(std::string id) override;

  Task<std::unique_ptr<ProcessStream>> exec(std::string id, Command command) override;

  Task<LineResult> run(std::string id, std::string line) override;

 private:
  std::string interpreter_path() const;
  agentcore::Box to_box(const Json& session) const;
  Task<std::string> start(const CreateSpec& spec);
  // Runs a tool in a session to its end.
  Task<agentcore::ToolResult> invoke(std::string id, std::string tool, std::string command);

  const AgentcoreSettings settings_;
  RestApi api_;
};

}  // namespace sandgate
