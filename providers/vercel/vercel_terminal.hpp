#pragma once
#include <memory>
#include <string>

#include "providers/shell/shell_process.hpp"
#include "providers/transport/web_socket.hpp"
#include "providers/vercel/vercel.hpp"

namespace sandgate {

// A command in a terminal of a Vercel session, over its own WebSocket.
class VercelTerminal : public ShellProcess {
 public:
  VercelTerminal(std::shared_ptr<VercelProvider> owner, std::string sandbox, Command command);
  ~VercelTerminal() override;

  // Requests the start; call once, before all else.
  Task<void> start();

  Task<std::optional<ProcessEvent>> next() override;
  Task<void> write_stdin(std::string bytes) override;

 private:
  const std::shared_ptr<VercelProvider> vercel_;  // the same object as owner_
  std::unique_ptr<WebSocket> socket_;
};

}  // namespace sandgate
