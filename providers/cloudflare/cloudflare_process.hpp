#pragma once
#include <memory>
#include <string>

#include "providers/cloudflare/cloudflare.hpp"
#include "providers/shell/shell_process.hpp"

namespace sandgate {

// A command in a Cloudflare container. The response to its start is its output.
class CloudflareProcess : public ShellProcess {
 public:
  CloudflareProcess(std::shared_ptr<CloudflareProvider> owner, std::string sandbox,
                    Command command);

  // Starts the command; call once, before all else. Returns when the request is accepted.
  Task<void> start();

  Task<std::optional<ProcessEvent>> next() override;

 private:
  const std::shared_ptr<CloudflareProvider> cloudflare_;  // the same object as owner_
  std::unique_ptr<EventReader> events_;
};

}  // namespace sandgate
