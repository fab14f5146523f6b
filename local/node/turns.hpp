#pragma once
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "gateway/core/async.hpp"

namespace sandgate {

// Who goes next where only so many may at once: `each` of one name and `most` together. Names that
// have somebody waiting come one after the other, however many of each wait. For one thread.
class Turns {
 public:
  Turns(size_t most, size_t each) : most_(most), each_(each) {}

  Task<void> take(std::string name);  // waits; then give_back() is due
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
  std::map<std::string, Line> lines_;  // of names of which one goes or waits
  std::list<std::string> waiting_;  // names of which one waits, the next first
};

}  // namespace sandgate
