#include "tests/exports/receiver.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/run.hpp"

namespace sandgate::test {

Receiver::Receiver() {
  int input[2], output[2];
  if (pipe(input) != 0 || pipe(output) != 0) throw std::runtime_error("no pipe");
  pid_ = fork();
  if (pid_ == 0) {
    dup2(input[0], 0);
    dup2(output[1], 1);
    for (const int file : {input[0], input[1], output[0], output[1]}) close(file);
    execl(SANDGATE_PYTHON, SANDGATE_PYTHON, SANDGATE_RECEIVER, nullptr);
    _exit(127);
  }
  close(input[0]);
  close(output[1]);
  input_ = input[1];
  std::string port;
  for (char c; read(output[0], &c, 1) == 1 && c != '\n';) port += c;
  close(output[0]);
  if (port.empty()) throw std::runtime_error("the receiver did not start");
  url_ = "http://127.0.0.1:" + port;
}

Receiver::~Receiver() {
  close(input_);
  waitpid(pid_, nullptr, 0);
}

Json Receiver::call(const std::string& method, const std::string& path, const std::string& body) {
  HttpCall call{.method = method, .url = url_ + path, .body = body, .allow_private = true};
  return Json::parse(run(http_.call(call)).body);
}

Json Receiver::state() { return call("GET", "/state", ""); }
void Receiver::fault(const Json& fault) { call("POST", "/fault", fault.dump()); }

}  // namespace sandgate::test
