#pragma once
#include <memory>
#include <string>

#include "providers/event_stream.hpp"
#include "providers/shell_process.hpp"
#include "providers/vercel.hpp"

namespace sandgate {

// The lines of a command's output. Empty at the end.
class VercelLog {
 public:
  explicit VercelLog(std::unique_ptr<HttpStream> source);
  Task<std::optional<vercel::LogLine>> next();

 private:
  const std::unique_ptr<HttpStream> source_;
  LineSplitter lines_;
  std::string buffer_;
};

// A command in a Vercel session. One that is to outlive its reader is started apart and followed
// by its log, others answer with their output.
class VercelProcess : public ShellProcess {
 public:
  VercelProcess(std::shared_ptr<VercelProvider> owner, std::string sandbox, Command command);
  ~VercelProcess() override;

  // Returns when it was started. Before anything else, or:
  Task<void> start();
  // Follows a command that runs already, from an offset of its output.
  Task<void> follow(std::string command_id, uint64_t from);

  Task<std::optional<ProcessEvent>> next() override;

 private:
  Task<int> status();

  const std::shared_ptr<VercelProvider> vercel_;  // the owner
  std::unique_ptr<VercelLog> log_;
  std::string command_id_;
  bool apart_ = false;
  uint64_t from_ = 0;
};

}  // namespace sandgate
