#pragma once
#include <memory>
#include <string>

#include "providers/blaxel/blaxel.hpp"
#include "providers/shell/shell_process.hpp"
#include "providers/transport/event_stream.hpp"

namespace sandgate {

// A process in a sandbox, named by our process id. Its output is a stream of lines; its status is
// read when the stream has ended. The server keeps the process running when the stream is dropped.
class BlaxelProcess : public ShellProcess {
 public:
  // Bytes per call: the capacity of a pipe, which the server waits ten seconds for.
  static constexpr size_t kStdinPiece = 64 << 10;

  BlaxelProcess(std::shared_ptr<BlaxelProvider> owner, std::string sandbox, Command command);

  // Starts the process; call once, before all else. Returns when it has started.
  Task<void> start();

  Task<std::optional<ProcessEvent>> next() override;
  Task<void> write_stdin(std::string bytes) override;
  Task<void> close_stdin() override;

 private:
  // Returns the next line of the output; empty at the end.
  Task<std::optional<std::string>> line();

  const std::shared_ptr<BlaxelProvider> blaxel_;  // the same object as owner_
  const std::string name_;
  std::unique_ptr<ByteSource> bytes_;
  LineSplitter lines_;
  std::string piece_;
};

}  // namespace sandgate
