#pragma once
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "local/fd.hpp"
#include "providers/sandbox.hpp"

namespace sandgate {

// A log of the final usage of ended sandboxes, for a serve that was down when they ended. It is
// kept in two files with a line per sandbox, so that it survives the node; when the newer file is
// full, the older one is dropped. Thread-safe.
class Ends {
 public:
  static constexpr size_t kHalf = 20'000;  // sandboxes per file; some hours of a busy machine

  // Creates `directory` if needed and reads the files of an earlier node.
  explicit Ends(std::string directory, size_t half = kHalf);

  struct End {
    SandboxMetrics counted;
    bool died = false;  // by itself, not on request
  };
  // Appends an entry, which survives the node's end. Throws Error(unavailable) when writing fails.
  void remember(const std::string& sandbox, const End& end);
  std::optional<End> find(const std::string& sandbox) const;
  // Ids of sandboxes that died then or later, of the newest kDeaths.
  static constexpr size_t kDeaths = 1000;
  std::vector<std::string> died_since(Time moment) const;

 private:
  using Counted = std::map<std::string, End>;
  void begin_half();

  const std::string directory_;
  const size_t half_;
  mutable std::mutex mutex_;
  Counted newer_, older_;
  std::deque<std::pair<Time, std::string>> deaths_;  // oldest first
  Fd file_;  // of the newer half; opened when needed
};

}  // namespace sandgate
