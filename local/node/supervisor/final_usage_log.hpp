#pragma once
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gateway/core/fd.hpp"
#include "providers/sandbox.hpp"

namespace sandgate {

// A log of the final usage of ended sandboxes, for a serve that was down when they ended. It is
// kept in two files with a line per sandbox, so that it survives the node; when the newer file is
// full, the older one is dropped. Thread-safe.
class FinalUsageLog {
 public:
  static constexpr size_t kMaxPerFile = 20'000;  // sandboxes per file; some hours of a busy machine

  // Creates `directory` if needed and reads the files of an earlier node.
  explicit FinalUsageLog(std::string directory, size_t max_per_file = kMaxPerFile);

  struct Entry {
    SandboxMetrics usage;
    bool died = false;  // by itself, not on request
  };
  // Appends an entry, which survives the node's end. One that cannot be written now, for lack of
  // space or descriptors, is known all the same, and owed to the file.
  void append(const std::string& sandbox, const Entry& end);
  void write_owed();  // as far as possible; to be called from time to time
  std::optional<Entry> find(const std::string& sandbox) const;
  // Ids of sandboxes that died then or later, of the newest kDeaths.
  static constexpr size_t kDeaths = 1000;
  std::vector<std::string> died_since(Time moment) const;

 private:
  using Counted = std::map<std::string, Entry>;
  void rotate();
  bool write_line(const std::string& line);
  void write_lines();  // called with mutex_ held

  const std::string directory_;
  const size_t max_per_file_;
  mutable std::mutex mutex_;
  Counted newer_, older_;
  std::deque<std::pair<Time, std::string>> deaths_;  // oldest first
  std::deque<std::string> owed_;  // lines, oldest first; max_per_file_ at most
  Fd file_;  // of the newer half; opened when needed
};

}  // namespace sandgate
