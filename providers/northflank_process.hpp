#pragma once
#include <memory>
#include <string>

#include "providers/northflank.hpp"
#include "providers/shell_process.hpp"

namespace sandgate {

// A command in a container, on a WebSocket of its own. Whether the vendor ends it with the
// connection is not known, so it is ended by a line of the shell.
class NorthflankProcess : public ShellProcess {
 public:
  NorthflankProcess(std::shared_ptr<NorthflankProvider> owner, std::string sandbox,
                    Command command);
  ~NorthflankProcess() override;

  // Returns when it runs. Before anything else.
  Task<void> start();

  Task<std::optional<ProcessEvent>> next() override;
  Task<void> write_stdin(std::string bytes) override;
  Task<void> close_stdin() override;

 private:
  NorthflankProvider& northflank_;  // the owner
  std::shared_ptr<SharedSocket> socket_;
};

namespace northflank {
// As many messages as it takes.
Task<void> write(std::shared_ptr<SharedSocket> socket, std::string bytes);
}  // namespace northflank

}  // namespace sandgate
