#pragma once
#include <memory>

#include "providers/cloudflare_wire.hpp"
#include "providers/seen_sandboxes.hpp"
#include "providers/shell_provider.hpp"

namespace sandgate {

struct CloudflareSettings {
  std::string api_url;  // of the operator's bridge worker
  bool network_deny = false;  // what the worker's class lets out: nothing, or everything
  DescriptorLimits limits;  // of the worker's containers
  Secret api_key;
  bool allow_private = false;  // an operator's deployment
};

// Cloudflare Sandbox through the bridge worker of its SDK. Any question about an id starts a
// container for it, so what turns out to be none of ours is ended at once. Output comes as text:
// bytes that are no UTF-8 are lost. The file verbs are shell lines; uploads go through the bridge.
class CloudflareProvider : public ShellProvider {
 public:
  CloudflareProvider(HttpClient& http, asio::any_io_executor executor, CloudflareSettings settings);

  Descriptor descriptor() const override;
  Task<BackendSandbox> create(CreateSpec spec) override;
  Task<std::optional<BackendSandbox>> find(std::string id) override;
  Task<std::optional<BackendSandbox>> find_by_tag(std::string sandbox_id) override;
  // Those that this object has created or found: the vendor has no list.
  Task<std::vector<BackendSandbox>> list() override;
  Task<void> kill(std::string id) override;

  Task<std::unique_ptr<ProcessStream>> exec(std::string id, Command command) override;

  // Error(not_found) when the sandbox is not there, which then ends what was started for the line.
  Task<Ran> run(std::string id, std::string line) override;
  RestApi& api() { return api_; }

 protected:
  Task<void> upload(std::string id, std::string path, ByteSource& bytes) override;

 private:
  Task<void> write(std::string id, std::string name, std::string bytes);

  const CloudflareSettings settings_;
  RestApi api_;
  SeenSandboxes seen_;
};

namespace cloudflare {
std::string box_path(const std::string& id);
}

}  // namespace sandgate
