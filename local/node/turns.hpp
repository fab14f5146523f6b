#pragma once
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "gateway/core/async.hpp"

namespace sandgate {

// A fair semaphore for coroutines: at most `most` holders in total and `each` holders per name.
// Waiting names are served round-robin, regardless of how many wait for each. Single-threaded.
class Turns {
 public:
  Turns(size_t most, size_t each) : most_(most), each_(each) {}

  Task<void> take(std::string name);  // waits for a turn, to be returned by give_back()
  void give_back(const std::string& name);

 private:
  using Bell = asio::steady_timer;
  struct Line {
    size_t going = 0;
    std::deque<std::shared_ptr<Bell>> waiting;
  };
  void call_next();

  const size_t most_, each_;
  size_t going_ = 0;
  std::map<std::string, Line> lines_;  // of names with holders or waiters
  std::list<std::string> waiting_;  // names with waiters, the next one first
};

}  // namespace sandgate
