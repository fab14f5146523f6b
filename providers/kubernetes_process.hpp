#pragma once
#include <memory>
#include <string>

#include "providers/kubernetes.hpp"
#include "providers/shell_process.hpp"
#include "providers/socket_input.hpp"

namespace sandgate {

// Its input, which version 5 of the protocol can close.
class KubernetesInput : public SocketInput {
 public:
  using SocketInput::SocketInput;
  Task<void> resize(PtySize size) override;

 protected:
  Task<void> close_bytes() override;
};

// A process in a pod. Its output and exit come over one WebSocket, which lets it live on when it
// closes.
class KubernetesProcess : public ShellProcess {
 public:
  KubernetesProcess(std::shared_ptr<KubernetesProvider> owner, std::string sandbox,
                    Command command);

  // Returns when it was started. Before anything else.
  Task<void> start();

  Task<std::optional<ProcessEvent>> next() override;
  Task<void> write_stdin(std::string bytes) override;
  Task<void> close_stdin() override;

 private:
  Task<std::vector<std::string>> words();

  KubernetesProvider& kubernetes_;  // the owner
  std::shared_ptr<SharedSocket> socket_;
  std::shared_ptr<KubernetesInput> input_;
};

}  // namespace sandgate
