#pragma once
#include <memory>
#include <string>

#include "providers/kubernetes/kubernetes.hpp"
#include "providers/shell/shell_process.hpp"
#include "providers/shell/socket_input.hpp"

namespace sandgate {

// The stdin of a process; only version 5 of the protocol can close it.
class KubernetesInput : public SocketInput {
 public:
  using SocketInput::SocketInput;
  Task<void> resize(PtySize size) override;

 protected:
  Task<void> close_bytes() override;
};

// A process in a pod. One WebSocket carries its output and exit; the process keeps running when the
// WebSocket closes.
class KubernetesProcess : public ShellProcess {
 public:
  KubernetesProcess(std::shared_ptr<KubernetesProvider> owner, std::string sandbox,
                    Command command);

  // Starts the process; call once, before all else. Returns when it has started.
  Task<void> start();

  Task<std::optional<ProcessEvent>> next() override;
  Task<void> write_stdin(std::string bytes) override;
  Task<void> close_stdin() override;

 private:
  Task<std::vector<std::string>> words();

  const std::shared_ptr<KubernetesProvider> kubernetes_;  // the same object as owner_
  std::shared_ptr<SharedSocket> socket_;
  std::shared_ptr<KubernetesInput> input_;
};

}  // namespace sandgate
