#pragma once
#include <memory>
#include <string>

#include "providers/cloudflare.hpp"
#include "providers/shell_process.hpp"

namespace sandgate {

// A command in a Cloudflare container, whose output is the answer to its start.
class CloudflareProcess : public ShellProcess {
 public:
  CloudflareProcess(std::shared_ptr<CloudflareProvider> owner, std::string sandbox,
                    Command command);

  // Returns when it was taken. Before anything else.
  Task<void> start();

  Task<std::optional<ProcessEvent>> next() override;

 private:
  CloudflareProvider& cloudflare_;  // the owner
  std::unique_ptr<EventReader> events_;
};

}  // namespace sandgate
