#pragma once
#include <memory>
#include <string>

#include "providers/opensandbox/opensandbox.hpp"
#include "providers/shell/end_mark.hpp"
#include "providers/shell/shell_process.hpp"
#include "providers/shell/socket_input.hpp"

namespace sandgate {

// The stdin of a process; execd cannot close it.
class OpenSandboxInput : public SocketInput {
 public:
  using SocketInput::SocketInput;
  Task<void> resize(PtySize size) override;
};

// A process in an OpenSandbox sandbox: a terminal or pipe session, followed over a WebSocket. The
// session outlives the WebSocket. At its end the script waits until the session is removed, so that
// no output is lost.
class OpenSandboxProcess : public ShellProcess {
 public:
  OpenSandboxProcess(std::shared_ptr<OpenSandboxProvider> owner, std::string sandbox,
                     Command command);
  ~OpenSandboxProcess() override;

  // Starts the process; call once, before all else. Returns when it has started.
  Task<void> start();

  Task<std::optional<ProcessEvent>> next() override;
  Task<void> write_stdin(std::string bytes) override;
  Task<void> close_stdin() override;

 private:
  std::string script() const;
  Task<std::string> session_command();
  // Returns the output of a message, or the exit if execd reports one without an end mark.
  std::optional<ProcessEvent> event_of(WebSocket::Message message);

  const std::shared_ptr<OpenSandboxProvider> opensandbox_;  // the same object as owner_
  const std::string word_;  // the random word of the end marks
  EndMark out_mark_, err_mark_;
  std::string session_;
  std::shared_ptr<SharedSocket> socket_;
  std::shared_ptr<OpenSandboxInput> input_;
};

}  // namespace sandgate
