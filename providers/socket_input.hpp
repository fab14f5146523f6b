#pragma once
#include <memory>
#include <string>

#include "providers/live_inputs.hpp"
#include "providers/shared_socket.hpp"

namespace sandgate {

// The input of a process over the WebSocket of its output, where a binary message starts with the
// number of a channel and 0 is stdin. The script that it runs (shell_script.hpp) says the form.
class SocketInput : public LiveInput {
 public:
  // bytes: as they are, and the backend can close them; lines: as with_input_lines() takes them;
  // terminal: as they are, and what ends them is what a person types.
  enum class Form { bytes, lines, terminal };

  SocketInput(std::shared_ptr<SharedSocket> socket, Form form);

  Task<void> write_stdin(std::string bytes) override;
  Task<void> close_stdin() override;

  // Hands the script over that the process runs; before any input, and not for a terminal.
  Task<void> give_script(std::string script);

 protected:
  virtual Task<void> close_bytes();  // of Form::bytes
  Task<void> send(char channel, std::string bytes);

  const std::shared_ptr<SharedSocket> socket_;
  const Form form_;
};

}  // namespace sandgate
