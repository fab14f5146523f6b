#include "tests/support/script_server.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

namespace sandgate::test {
namespace {

std::string line_from(int fd) {
  std::string line;
  char letter = 0;
  while (read(fd, &letter, 1) == 1 && letter != '\n') line.push_back(letter);
  return line;
}

}  // namespace

ScriptServer::ScriptServer(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  pid_ = fork();
  if (pid_ == 0) {
    dup2(in[0], 0);
    dup2(out[1], 1);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  stdin_ = in[1];
  const std::string line = line_from(out[0]);
  close(out[0]);
  constexpr std::string_view kWord = "listening ";
  if (line.starts_with(kWord)) {
    url_ = line.substr(kWord.size());
    return;
  }
  close(stdin_);
  waitpid(pid_, nullptr, 0);
  throw std::runtime_error(words.front() + " did not start");
}

ScriptServer::~ScriptServer() {
  close(stdin_);
  waitpid(pid_, nullptr, 0);
}

}  // namespace sandgate::test
