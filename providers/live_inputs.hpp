#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "providers/sandbox.hpp"

namespace sandgate {

// Where a process takes its input while a connection to it lasts.
class LiveInput {
 public:
  virtual ~LiveInput() = default;
  virtual Task<void> write_stdin(std::string bytes) = 0;
  virtual Task<void> close_stdin() = 0;
  virtual Task<void> resize(PtySize size) = 0;
};

// The inputs that this gateway holds, for the verbs that name a process, with backends that take
// input over the connection of its output only. Used from any thread.
class LiveInputs {
 public:
  // Until the input is gone. A process without an id is not kept.
  void add(const std::string& sandbox, const std::string& process,
           const std::shared_ptr<LiveInput>& input);
  // Null when this gateway holds no connection to it.
  std::shared_ptr<LiveInput> find(const std::string& sandbox, const std::string& process);

 private:
  std::mutex mutex_;
  // By sandbox and process; those that are gone are dropped when one is added.
  std::map<std::pair<std::string, std::string>, std::weak_ptr<LiveInput>> inputs_;
};

}  // namespace sandgate
