#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

namespace sandgate::test {

// A program that prints "listening URL" as its first line and exits when its standard input closes.
// Starts and ends with this object.
class ScriptServer {
 public:
  // Throws std::runtime_error if the program does not start.
  explicit ScriptServer(const std::vector<std::string>& words);
  ~ScriptServer();
  ScriptServer(const ScriptServer&) = delete;
  ScriptServer& operator=(const ScriptServer&) = delete;

  const std::string& url() const { return url_; }

 private:
  pid_t pid_ = -1;
  int stdin_ = -1;
  std::string url_;
};

}  // namespace sandgate::test
