#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "providers/sandbox.hpp"

namespace sandgate {

// The input of a process, usable as long as the connection to the process exists.
class LiveInput {
 public:
  virtual ~LiveInput() = default;
  virtual Task<void> write_stdin(std::string bytes) = 0;
  virtual Task<void> close_stdin() = 0;
  virtual Task<void> resize(PtySize size) = 0;
};

// The process inputs of one deployment whose connections this gateway holds, for backends that
// accept input only over the connection of the output. Thread-safe.
class LiveInputs {
 public:
  // Registers the input until it is destroyed. A process without an id is ignored.
  void add(const std::string& sandbox, const std::string& process,
           const std::shared_ptr<LiveInput>& input);
  // Returns null if this gateway holds no connection to the process.
  std::shared_ptr<LiveInput> find(const std::string& sandbox, const std::string& process);

 private:
  std::mutex mutex_;
  // Keyed by sandbox and process. add() removes expired entries.
  std::map<std::pair<std::string, std::string>, std::weak_ptr<LiveInput>> inputs_;
};

}  // namespace sandgate
