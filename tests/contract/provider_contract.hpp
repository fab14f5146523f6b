#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

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
  // What its descriptor declares; of one that depends on the machine: where nothing is lacking.
  std::set<Verb> verbs;
  std::function<std::unique_ptr<Backend>(LiveLoop& loop)> make;
  // For a backend that depends on the machine: what this one lacks to run it, for which its tests
  // are skipped; empty: nothing. If make() throws, that is a failure.
  std::function<std::string()> reason_to_skip = nullptr;
};

std::ostream& operator<<(std::ostream& out, const BackendLine& line);

// THE list.
std::vector<BackendLine> backend_lines();
// Those of it that have all these verbs.
std::vector<BackendLine> backends_with(const std::set<Verb>& verbs);
std::string name_of_line(const testing::TestParamInfo<BackendLine>& line);

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

// The contract of backends that have certain verbs.
template <Verb... kVerbs>
class ContractOf : public ProviderContract {
 public:
  static std::vector<BackendLine> lines() { return backends_with({kVerbs...}); }

 protected:
  void SetUp() override {
    ProviderContract::SetUp();
    std::string missing;
    if (backend_) ((can(kVerbs) ? missing : missing += " " + std::string(to_string(kVerbs))), ...);
    if (!missing.empty()) GTEST_SKIP() << "the backend cannot do on this machine:" << missing;
  }
};

class ExecContract : public ContractOf<Verb::exec> {};
class StdinContract : public ContractOf<Verb::stdin_> {};
class BackgroundContract : public ContractOf<Verb::background, Verb::signal> {};
class FilesContract : public ContractOf<Verb::files, Verb::exec> {};
class PauseContract : public ContractOf<Verb::pause> {};
class SnapshotContract : public ContractOf<Verb::snapshot, Verb::files> {};
class ForkContract : public ContractOf<Verb::fork, Verb::files> {};
class WatchContract : public ContractOf<Verb::watch, Verb::files, Verb::exec> {};
class PortsContract : public ContractOf<Verb::ports, Verb::background> {};

}  // namespace sandgate::test
