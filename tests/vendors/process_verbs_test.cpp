#include <gtest/gtest.h>

#include <csignal>

#include "gateway/core/ids.hpp"
#include "tests/support/live_loop.hpp"
#include "tests/vendors/vendor_lines.hpp"

// Verbs on a running process by its id, for the vendors that declare them.
namespace sandgate::test {
namespace {

class VendorProcesses : public testing::TestWithParam<VendorLine> {
 protected:
  void SetUp() override {
    vendor_ = std::make_unique<Vendor>(GetParam(), loop_.executor());
    CreateSpec spec;
    spec.sandbox_id = SandboxId::make().value;
    spec.image = GetParam().image;
    spec.network.fallback = NetworkDefault::allow;
    box_ = loop_.run(provider().create(std::move(spec))).backend_id;
  }
  void TearDown() override { loop_.run(provider().kill(box_)); }

  Provider& provider() { return vendor_->provider(); }
  std::unique_ptr<ProcessStream> start(Command command) {
    command.process_id = process_ = ProcessId::make().value;
    return loop_.run(provider().exec(box_, std::move(command)));
  }
  // What it printed until that holds a text, or all of it; the exit, if it came. Shells tell on
  // stderr of the children that a signal took.
  std::string read(ProcessStream& stream, const std::string& until = "\xFF") {
    std::string out;
    while (out.find(until) == std::string::npos) {
      auto event = loop_.run(stream.next());
      if (!event) break;
      if (const auto* exit = std::get_if<ProcessExit>(&*event))
        exit_ = *exit;
      else if (const auto& chunk = std::get<OutputChunk>(*event); chunk.channel == Channel::stdout_)
        out += chunk.bytes;
    }
    return out;
  }

  LiveLoop loop_;
  std::unique_ptr<Vendor> vendor_;
  std::string box_, process_;
  ProcessExit exit_;
};

std::string name_of_line(const testing::TestParamInfo<VendorLine>& line) { return line.param.name; }

class VendorsWithSignals : public VendorProcesses {};
INSTANTIATE_TEST_SUITE_P(Vendors, VendorsWithSignals, testing::ValuesIn(vendors_with(Verb::signal)),
                         name_of_line);

TEST_P(VendorsWithSignals, DeliverThem) {
  auto stream =
      start({.shell = "trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.05; done"});
  EXPECT_EQ(read(*stream, "ready\n"), "ready\n");
  loop_.run(provider().signal(box_, process_, SIGTERM));
  EXPECT_EQ(read(*stream), "bye\n");
  EXPECT_EQ(exit_.exit_code, 3);
  try {
    loop_.run(provider().signal(box_, process_, SIGTERM));
    FAIL() << "it has ended";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::not_found);
  }
}

// Whoever asks for a weaker account must not get the usual one instead.
class VendorsWithOneAccount : public VendorProcesses {};

TEST_P(VendorsWithOneAccount, RefuseOthers) {
  try {
    start({.argv = {"true"}, .user = "nobody"});
    FAIL() << "it ran as another account";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::invalid);
    EXPECT_EQ(error.fields.at(0).path, "/user");
  }
}

std::vector<VendorLine> with_one_account() {
  std::vector<VendorLine> lines = vendor_lines();
  std::erase_if(lines, [](const VendorLine& line) { return line.accounts; });
  return lines;
}

INSTANTIATE_TEST_SUITE_P(Vendors, VendorsWithOneAccount, testing::ValuesIn(with_one_account()),
                         name_of_line);

class VendorsWithStdin : public VendorProcesses {};
INSTANTIATE_TEST_SUITE_P(Vendors, VendorsWithStdin, testing::ValuesIn(vendors_with(Verb::stdin_)),
                         name_of_line);

TEST_P(VendorsWithStdin, WriteItByTheProcessId) {
  auto stream = start({.argv = {"cat"}});
  loop_.run(provider().write_stdin(box_, process_, std::string("a\0b", 3)));
  loop_.run(provider().close_stdin(box_, process_));
  EXPECT_EQ(read(*stream), std::string("a\0b", 3));
}

// A deployment may get another key or limit while programs run.
TEST_P(VendorsWithStdin, TakeItWhenTheirDeploymentWasChanged) {
  auto stream = start({.shell = "read line; echo $line; exec cat"});
  loop_.run(provider().write_stdin(box_, process_, "before\n"));
  EXPECT_EQ(read(*stream, "before\n"), "before\n");
  vendor_->change();
  loop_.run(provider().write_stdin(box_, process_, "after\n"));
  loop_.run(provider().close_stdin(box_, process_));
  EXPECT_EQ(read(*stream), "after\n");
}

TEST_P(VendorsWithStdin, KeepWhatManyWriteAtOnceWhole) {
  using namespace asio::experimental::awaitable_operators;
  auto stream = start({.argv = {"sort"}});
  const auto write = [this](std::string line) {
    return provider().write_stdin(box_, process_, std::move(line));
  };
  auto all = write("a\n") && write("b\n") && write("c\n") && write("d\n");
  loop_.run(std::move(all));
  loop_.run(provider().close_stdin(box_, process_));
  EXPECT_EQ(read(*stream), "a\nb\nc\nd\n");
}

class VendorsWithTerminals : public VendorProcesses {};
INSTANTIATE_TEST_SUITE_P(Vendors, VendorsWithTerminals, testing::ValuesIn(vendors_with(Verb::pty)),
                         name_of_line);

TEST_P(VendorsWithTerminals, ChangeTheirSize) {
  auto stream = start(
      {.shell = "stty size; read line; stty size; echo got $line; exit 4", .pty = PtySize{80, 24}});
  EXPECT_NE(read(*stream, "24 80").find("24 80"), std::string::npos);
  loop_.run(provider().resize(box_, process_, {100, 30}));
  loop_.run(stream->write_stdin("hi\n"));
  const std::string rest = read(*stream);
  EXPECT_NE(rest.find("30 100"), std::string::npos) << rest;
  EXPECT_NE(rest.find("got hi"), std::string::npos) << rest;
  EXPECT_EQ(exit_.exit_code, 4);
}

class VendorsWithPauses : public VendorProcesses {};
INSTANTIATE_TEST_SUITE_P(Vendors, VendorsWithPauses, testing::ValuesIn(vendors_with(Verb::pause)),
                         name_of_line);

TEST_P(VendorsWithPauses, KeepWhatTheyDeclare) {
  const Keeps declared = provider().descriptor().verbs.at(Verb::pause);
  auto stream = start({.shell = "echo before > file; echo ready; read line && echo $line"});
  EXPECT_EQ(read(*stream, "ready\n"), "ready\n");
  EXPECT_EQ(loop_.run(provider().pause(box_, Keeps::memory)), declared);
  EXPECT_EQ(loop_.run(provider().pause(box_, Keeps::memory)), declared);
  const auto paused = loop_.run(provider().find(box_));
  ASSERT_TRUE(paused);
  EXPECT_EQ(paused->state, BackendState::paused);
  EXPECT_EQ(paused->kept, declared);
  loop_.run(provider().resume(box_));
  loop_.run(provider().resume(box_));
  EXPECT_EQ(loop_.run(provider().find(box_))->state, BackendState::running);
  EXPECT_EQ(loop_.run(provider().stat(box_, "file")).size, 7u);
  if (declared != Keeps::memory) return;
  loop_.run(stream->write_stdin("after\n"));
  EXPECT_EQ(read(*stream), "after\n");
}

}  // namespace
}  // namespace sandgate::test
