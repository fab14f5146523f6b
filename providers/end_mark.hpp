#pragma once
#include <string>
#include <string_view>

namespace sandgate {

// Finds the end that a script of ours writes behind a command's output, with its status, for
// backends that may tell of a process's end before the last of its output. A mark has a random
// word, which who does not know it cannot write by chance.
class EndMark {
 public:
  explicit EndMark(std::string word);
  // A line for a shell that writes the mark to stdout, and stderr too, with the status in $s.
  static std::string line_of(const std::string& word, bool both);

  // What is surely output of what has come so far.
  std::string add(std::string_view bytes);
  bool seen() const { return seen_; }
  int status() const { return status_; }

 private:
  const std::string start_;
  std::string held_;  // may be the beginning of the mark
  bool seen_ = false;
  int status_ = 0;
};

}  // namespace sandgate
