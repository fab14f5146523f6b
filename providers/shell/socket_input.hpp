#pragma once
#include <memory>
#include <string>

#include "providers/shell/live_inputs.hpp"
#include "providers/transport/shared_socket.hpp"

namespace sandgate {

// A process's input over the WebSocket of its output. A binary message starts with a channel
// number; 0 is stdin. The script that the process runs (shell_script.hpp) determines the form.
class SocketInput : public LiveInput {
 public:
  // bytes: raw, and the backend can close stdin; lines: encoded for with_input_lines(); terminal:
  // raw, and end of file is Ctrl-D.
  enum class Form { bytes, lines, terminal };

  SocketInput(std::shared_ptr<SharedSocket> socket, Form form);

  Task<void> write_stdin(std::string bytes) override;
  Task<void> close_stdin() override;

  // Sends the script for the process to run. Call before any input; not for a terminal.
  Task<void> give_script(std::string script);

 protected:
  virtual Task<void> close_bytes();  // for Form::bytes; throws Error(unsupported) unless overridden
  Task<void> send(char channel, std::string bytes);

  const std::shared_ptr<SharedSocket> socket_;
  const Form form_;
};

}  // namespace sandgate
