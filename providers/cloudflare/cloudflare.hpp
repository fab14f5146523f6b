#pragma once
#include <memory>

#include "providers/cloudflare/cloudflare_wire.hpp"
#include "providers/sandbox_id_set.hpp"
#include "providers/shell/shell_provider.hpp"

namespace sandgate {

struct CloudflareSettings {
  std::string api_url;  // of the operator's bridge worker
  bool network_deny = false;  // whether the worker's network allows no outbound traffic or all
  DescriptorLimits limits;  // of the worker's containers
  Secret api_key;
  bool allow_private = false;  // set for the operator's deployments
};

// Cloudflare Sandbox through the bridge worker of its SDK. A request about any id starts a
// container, so a container that turns out not to be a sandbox is ended at once. Output is text:
// bytes that are not UTF-8 are lost. File verbs are shell lines; uploads go through the bridge.
class CloudflareProvider : public ShellProvider {
 public:
  CloudflareProvider(HttpClient& http, asio::any_io_executor executor, CloudflareSettings settings);

  Descriptor descriptor() const override;
  Resources granted(const Resources& asked) const override;
  Task<BackendSandbox> create(CreateSpec spec) override;
  Task<std::optional<BackendSandbox>> find(std::string id) override;
  Task<std::optional<BackendSandbox>> find_by_tag(std::string sandbox_id) override;
  // Only the sandboxes that this object has created, found or perhaps started by a question: the
  // vendor has no list.
  Task<std::vector<BackendSandbox>> list() override;
  Task<void> kill(std::string id) override;

  Task<std::unique_ptr<ProcessStream>> exec(std::string id, Command command) override;

  // Throws Error(not_found) if the sandbox does not exist, after ending the container that the line
  // started.
  Task<LineResult> run(std::string id, std::string line) override;
  RestApi& api() { return api_; }
  SandboxIdSet& seen() { return seen_; }

 protected:
  Task<void> upload(std::string id, std::string path, ByteSource& bytes) override;

 private:
  Task<void> write(std::string id, std::string name, std::string bytes);

  const CloudflareSettings settings_;
  RestApi api_;
  SandboxIdSet seen_;
};

namespace cloudflare {
std::string box_path(const std::string& id);
}

}  // namespace sandgate
