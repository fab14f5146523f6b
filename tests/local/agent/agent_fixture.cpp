#include "tests/local/agent/agent_fixture.hpp"

#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

namespace sandgate::test {
namespace {

constexpr unsigned kUser = 1000;

int listen_at(const std::string& path) {
  ::unlink(path.c_str());
  const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener, 128) != 0)
    throw std::runtime_error("cannot listen at " + path);
  return listener;
}

}  // namespace

Task<Outcome> collect(ProcessStream& stream) {
  Outcome outcome;
  bool ended = false;
  while (auto event = co_await stream.next()) {
    if (const auto* exit = std::get_if<ProcessExit>(&*event)) {
      outcome.exit = *exit;
      ended = true;
      continue;
    }
    const auto& chunk = std::get<OutputChunk>(*event);
    (chunk.channel == Channel::stderr_ ? outcome.err : outcome.out) += chunk.bytes;
    outcome.offset = chunk.end_offset;
  }
  EXPECT_TRUE(ended);
  co_return outcome;
}

Task<std::string> read_all(ByteSource& source) {
  std::string all, part(64 * 1024, '\0');
  while (const size_t got = co_await source.read(part)) all.append(part, 0, got);
  co_return all;
}

Task<std::string> refusal(Task<void> task) {
  co_return co_await refusal([](Task<void> inner) -> Task<int> {
    co_await std::move(inner);
    co_return 0;
  }(std::move(task)));
}

bool AgentTest::is_root() { return ::geteuid() == 0; }
void AgentTest::pause() { ::usleep(10'000); }

void AgentTest::start(std::vector<std::string> words) {
  stop();
  ::chmod(directory_.path().c_str(), 0755);
  ::mkdir(home().c_str(), 0755);
  const unsigned uid = is_root() ? kUser : ::getuid(), gid = is_root() ? kUser : ::getgid();
  if (::chown(home().c_str(), uid, gid) != 0) throw std::runtime_error("chown");
  const int listener = listen_at(socket_path());
  std::vector<std::string> all{SANDGATE_TEST_AGENT, std::to_string(listener), "sandgate-tester",
                               std::to_string(uid), std::to_string(gid),      home()};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> argv;
  for (std::string& word : all) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() == parent) ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ::close(listener);
}

void AgentTest::stop() {
  if (pid_ < 0) return;
  try {
    run([](AgentClient client) -> Task<void> {
      const auto processes = co_await client.processes();
      for (const ProcessInfo& process : processes)
        if (process.state == ProcessState::running) co_await client.signal(process.id, SIGKILL);
    }(client_));
  } catch (const std::exception&) {
    // The test may have broken it.
  }
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

Command AgentTest::shell(std::string line) {
  Command command;
  command.shell = std::move(line);
  command.process_id = "pr" + std::to_string(++next_process_);
  return command;
}

Outcome AgentTest::exec(Command command) {
  if (command.process_id.empty()) command.process_id = "pr" + std::to_string(++next_process_);
  return run([](AgentClient client, Command given) -> Task<Outcome> {
    auto stream = co_await client.exec(given);
    co_await stream->close_stdin();
    co_return co_await collect(*stream);
  }(client_, std::move(command)));
}

long AgentTest::agent_memory_kib() const {
  std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stol(line.substr(6));
  return 0;
}

}  // namespace sandgate::test
