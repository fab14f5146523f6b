#pragma once
#include <memory>
#include <string>

#include "providers/blaxel.hpp"
#include "providers/event_stream.hpp"
#include "providers/shell_process.hpp"

namespace sandgate {

// A process in a sandbox, known there by our id: its output is a stream of lines, its status is
// asked for when that has ended. The server there lets it live on when the stream goes.
class BlaxelProcess : public ShellProcess {
 public:
  // What one call carries: as much as a pipe holds, which the server waits ten seconds for.
  static constexpr size_t kStdinPiece = 64 << 10;

  BlaxelProcess(std::shared_ptr<BlaxelProvider> owner, std::string sandbox, Command command);

  // Returns when it was started. Before anything else.
  Task<void> start();

  Task<std::optional<ProcessEvent>> next() override;
  Task<void> write_stdin(std::string bytes) override;
  Task<void> close_stdin() override;

 private:
  // The next line of the output; empty at its end.
  Task<std::optional<std::string>> line();

  BlaxelProvider& blaxel_;  // the owner
  const std::string name_;
  std::unique_ptr<ByteSource> bytes_;
  LineSplitter lines_;
  std::string piece_;
};

}  // namespace sandgate
