#include "local/agent/processes/spawn.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "gateway/core/error.hpp"
#include "local/agent/processes/child.hpp"
#include "local/agent/processes/pty.hpp"
#include "local/agent/processes/spawn_spec_codec.hpp"

namespace sandgate::agent {
namespace {

constexpr std::chrono::seconds kSetup{5};  // from the fork until the program runs

struct Pipe {
  Fd read, write;
};

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw Error(ErrorCode::unavailable, "the sandbox has no free descriptors");
  return {Fd(ends[0]), Fd(ends[1])};
}

void make_nonblocking(const Fd& file) {
  ::fcntl(file.get(), F_SETFL, ::fcntl(file.get(), F_GETFL) | O_NONBLOCK);
}

// The standard descriptors of a child without a terminal.
struct StandardPipes {
  Pipe in = make_pipe(), out = make_pipe(), err = make_pipe();

  Spawned agents_ends(pid_t pid) {
    for (const Fd* file : {&in.write, &out.read, &err.read}) make_nonblocking(*file);
    return {pid, std::move(in.write), std::move(out.read), std::move(err.read)};
  }
};

pid_t fork_or_refuse() {
  const pid_t pid = ::fork();
  if (pid < 0) throw Error(ErrorCode::quota_exceeded, "the sandbox has too many processes");
  return pid;
}

[[noreturn]] void refuse(pid_t pid, char step) {
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  if (step == static_cast<char>(Step::directory))
    throw Error::invalid("/cwd", "is not a directory that the user may enter inside the sandbox");
  if (step == static_cast<char>(Step::identity))
    throw Error(ErrorCode::forbidden, "the process cannot become that user");
  throw Error(ErrorCode::unavailable, "the sandbox cannot start the process");
}

// Waits until the program runs or the child has reported the step that failed.
void await_start(pid_t pid, const Fd& report, PausableClock& clock) {
  // The tenant may stop the child before its program runs, hence the time limit.
  if (!clock.is_readable_within(report.get(), kSetup))
    refuse(pid, static_cast<char>(Step::terminal));
  char step = 0;
  if (::read(report.get(), &step, 1) == 1) refuse(pid, step);
}

pid_t fork_child(const SpawnSpec& spec, const AgentSettings& settings, ChildEnds ends,
                 PausableClock& clock) {
  Pipe report = make_pipe();
  ends.report = report.write.get();
  const pid_t pid = fork_or_refuse();
  if (pid == 0) {
    prepare_child(ends);
    run_program(spec, settings);
  }
  report.write.reset();
  await_start(pid, report.read, clock);
  return pid;
}

bool write_all(const Fd& file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(file.get(), bytes.data(), bytes.size());
    if (put < 0 && errno != EINTR) return false;
    if (put > 0) bytes.remove_prefix(static_cast<size_t>(put));
  }
  return true;
}

}  // namespace

void reset_signals() {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
}

void unblock_signals() {
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

Spawned spawn(const SpawnSpec& spec, const AgentSettings& settings, PausableClock& clock) {
  if (spec.terminal) {
    Spawned child;
    Terminal terminal =
        open_terminal(spec.terminal->first, spec.terminal->second, spec.identity.uid);
    const int slave = terminal.slave.get();
    child.pid = fork_child(spec, settings, {slave, slave, slave, -1, /*terminal=*/true}, clock);
    child.in = Fd(::fcntl(terminal.master.get(), F_DUPFD_CLOEXEC, 3));
    child.out = std::move(terminal.master);
    return child;
  }
  StandardPipes pipes;
  const ChildEnds ends{pipes.in.read.get(), pipes.out.write.get(), pipes.err.write.get(), -1};
  return pipes.agents_ends(fork_child(spec, settings, ends, clock));
}

PreforkedChild::PreforkedChild(const AgentSettings& settings) {
  StandardPipes pipes;
  Pipe report = make_pipe(), spec_pipe = make_pipe();
  const pid_t pid = fork_or_refuse();
  if (pid == 0) {
    ::prctl(PR_SET_NAME, kName);
    prepare_child({pipes.in.read.get(), pipes.out.write.get(), pipes.err.write.get(),
                   report.write.get(), /*terminal=*/false, spec_pipe.read.get()});
    run_program(receive_spawn_spec(), settings);
  }
  child_ = pipes.agents_ends(pid);
  report_ = std::move(report.read);
  spec_pipe_ = std::move(spec_pipe.write);
}

PreforkedChild::~PreforkedChild() {
  if (child_.pid < 0) return;
  ::kill(child_.pid, SIGKILL);
  ::waitpid(child_.pid, nullptr, 0);
}

// Without the word that it took the spec, an end of the report would not tell its start from its
// death.
std::optional<Spawned> PreforkedChild::start(const SpawnSpec& spec, PausableClock& clock) {
  if (child_.pid < 0 || spec.terminal || !write_all(spec_pipe_, encode(spec))) return std::nullopt;
  spec_pipe_.reset();
  char word = 0;
  if (!clock.is_readable_within(report_.get(), kSetup) || ::read(report_.get(), &word, 1) != 1 ||
      word != kSpecReceived)
    return std::nullopt;
  const pid_t pid = std::exchange(child_.pid, -1);  // from here on it is the caller's, or refused
  await_start(pid, report_, clock);
  child_.pid = pid;
  return std::exchange(child_, Spawned());
}

}  // namespace sandgate::agent
