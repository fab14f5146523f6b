#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "providers/provider.hpp"
#include "tests/support/live_loop.hpp"

namespace sandgate::test {

// One backend under the contract: makes its provider and takes everything away again.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual Provider& provider() = 0;
  // A create that this backend accepts.
  virtual CreateSpec spec() = 0;
};

// A line of the suite.
struct BackendLine {
  std::string name;
  std::function<std::unique_ptr<Backend>(LiveLoop& loop)> make;
  // What this machine lacks to run the backend, with which its tests are skipped; empty: nothing.
  // That make() throws is a failure.
  std::function<std::string()> reason_to_skip = [] { return std::string(); };
};

std::ostream& operator<<(std::ostream& out, const BackendLine& line);

// THE list.
std::vector<BackendLine> backend_lines();

// What a command did.
struct CommandOutcome {
  std::string out, err;
  ProcessExit exit;
  uint64_t last_offset = 0;
  bool offsets_grow = true;
};

class ProviderContract : public testing::TestWithParam<BackendLine> {
 protected:
  void SetUp() override;
  void TearDown() override;

  bool can(Verb verb) { return backend_->provider().descriptor().can(verb); }
  Provider& provider() { return backend_->provider(); }
  CommandOutcome shell(std::string line) { return command({.shell = std::move(line)}); }
  CommandOutcome command(Command command, std::optional<std::string> input = {});
  // The code of the Error a task ends with; empty when it succeeds.
  template <class T>
  std::optional<ErrorCode> code_of(Task<T> task) {
    try {
      loop_.run(std::move(task));
      return std::nullopt;
    } catch (const Error& error) {
      return error.code;
    }
  }
  std::string read(const std::string& path, ByteRange range = {});
  FileEntry write(const std::string& path, std::string bytes, uint32_t mode = 0644);

  LiveLoop loop_;
  std::unique_ptr<Backend> backend_;
  BackendSandbox box_;
  std::string tag_;
};

}  // namespace sandgate::test
