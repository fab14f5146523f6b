#pragma once
#include <memory>
#include <string>

#include "providers/end_mark.hpp"
#include "providers/opensandbox.hpp"
#include "providers/shell_process.hpp"
#include "providers/socket_input.hpp"

namespace sandgate {

// Its input, which execd cannot close.
class OpenSandboxInput : public SocketInput {
 public:
  using SocketInput::SocketInput;
  Task<void> resize(PtySize size) override;
};

// A process in an OpenSandbox sandbox: a session of a terminal or of pipes, followed over its
// WebSocket, which lives on when that goes. Its script waits at its end until the session is ended,
// so that none of its output is lost.
class OpenSandboxProcess : public ShellProcess {
 public:
  OpenSandboxProcess(std::shared_ptr<OpenSandboxProvider> owner, std::string sandbox,
                     Command command);
  ~OpenSandboxProcess() override;

  // Returns when it was started. Before anything else.
  Task<void> start();

  Task<std::optional<ProcessEvent>> next() override;
  Task<void> write_stdin(std::string bytes) override;
  Task<void> close_stdin() override;

 private:
  std::string script() const;
  Task<std::string> session_command();
  // Output of a message, if it has any; the exit when it tells one that came without a mark.
  std::optional<ProcessEvent> event_of(WebSocket::Message message);

  const std::shared_ptr<OpenSandboxProvider> opensandbox_;  // the owner
  const std::string word_;  // of the marks
  EndMark out_mark_, err_mark_;
  std::string session_;
  std::shared_ptr<SharedSocket> socket_;
  std::shared_ptr<OpenSandboxInput> input_;
};

}  // namespace sandgate
