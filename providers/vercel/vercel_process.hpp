#pragma once
#include <memory>
#include <string>

#include "providers/shell/shell_process.hpp"
#include "providers/transport/event_stream.hpp"
#include "providers/vercel/vercel.hpp"

namespace sandgate {

// Reads the lines of a command's log; empty at the end.
class VercelLog {
 public:
  explicit VercelLog(std::unique_ptr<HttpStream> source);
  Task<std::optional<vercel::LogLine>> next();

 private:
  const std::unique_ptr<HttpStream> source_;
  LineSplitter lines_;
  std::string buffer_;
};

// A command in a Vercel session. A command that may outlive its reader is started separately and
// followed by its log; the response to any other is its output.
class VercelProcess : public ShellProcess {
 public:
  VercelProcess(std::shared_ptr<VercelProvider> owner, std::string sandbox, Command command);
  ~VercelProcess() override;

  // Starts the command; call once, before all else. Returns when it has started.
  Task<void> start();
  // Follows a running command from an offset of its output; call instead of start().
  Task<void> follow(std::string command_id, uint64_t from);

  Task<std::optional<ProcessEvent>> next() override;

 private:
  Task<std::optional<int>> status();

  const std::shared_ptr<VercelProvider> vercel_;  // the same object as owner_
  std::unique_ptr<VercelLog> log_;
  std::string command_id_;
  bool apart_ = false;
  uint64_t from_ = 0;
};

}  // namespace sandgate
