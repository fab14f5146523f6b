#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

namespace sandgate::test {

// A program that prints "listening URL" as its first line and ends when its standard input does:
// started with this object, ended with it.
class ScriptServer {
 public:
  // Throws std::runtime_error when it does not start.
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
