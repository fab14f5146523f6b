#pragma once
#include <string>
#include <string_view>

namespace sandgate {

// Finds the end mark, with the exit status, that our scripts print after a command's output. For
// backends that may report an exit before the last output. The mark contains a random word, so that
// a command cannot print it by accident.
class EndMark {
 public:
  explicit EndMark(std::string word);
  // Returns a shell line that prints the mark, with the status in $s, to stdout and optionally
  // stderr.
  static std::string line_of(const std::string& word, bool both);

  // Adds bytes; returns those that are known to be output and not part of the mark.
  std::string add(std::string_view bytes);
  bool seen() const { return seen_; }
  int status() const { return status_; }

 private:
  const std::string start_;
  std::string held_;  // a possible prefix of the mark
  bool seen_ = false;
  int status_ = 0;
};

}  // namespace sandgate
