#include "local/agent/spawn.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

#include "gateway/core/error.hpp"
#include "local/agent/advantages.hpp"
#include "local/agent/pty.hpp"

namespace sandgate::agent {
namespace {

constexpr int kReportFd = 3;
constexpr int kNotFound = 127;
constexpr int kNotExecutable = 126;
constexpr int kSetupMs = 5000;  // from the fork until the program runs

enum class Step : char { terminal = 't', identity = 'i', directory = 'd' };

struct Pipe {
  File read, write;
};

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw Error(ErrorCode::unavailable, "the sandbox has no free descriptors");
  return {File(ends[0]), File(ends[1])};
}

void make_nonblocking(const File& file) {
  if (file) ::fcntl(file.get(), F_SETFL, ::fcntl(file.get(), F_GETFL) | O_NONBLOCK);
}

// The child's ends of its standard descriptors.
struct ChildEnds {
  int in, out, err;
  bool terminal;
};

bool adopt_descriptors(const ChildEnds& ends, int report) {
  // Above the standard numbers first, so that no dup2 overwrites one still needed.
  const int in = ::fcntl(ends.in, F_DUPFD, 10);
  const int out = ::fcntl(ends.out, F_DUPFD, 10);
  const int err = ::fcntl(ends.err, F_DUPFD, 10);
  const int kept = ::fcntl(report, F_DUPFD, 10);
  if (in < 0 || out < 0 || err < 0 || kept < 0) return false;
  if (::dup2(in, 0) < 0 || ::dup2(out, 1) < 0 || ::dup2(err, 2) < 0) return false;
  if (::dup3(kept, kReportFd, O_CLOEXEC) < 0) return false;
  if (::syscall(SYS_close_range, kReportFd + 1, ~0u, 0) != 0) return false;
  return !ends.terminal || ::ioctl(0, TIOCSCTTY, 0) == 0;
}

bool enter_directory(const std::string& cwd, const std::string& home) {
  const std::string path = cwd.empty() ? home : cwd.front() == '/' ? cwd : home + "/" + cwd;
  const File directory(open_safely(AT_FDCWD, path.c_str(), O_PATH | O_DIRECTORY));
  if (!directory || ::fchdir(directory.get()) != 0) return cwd.empty() && ::chdir("/") == 0;
  // The kernel answers "(unreachable)…" or ENOENT for a directory outside the root or deleted.
  char reached[PATH_MAX];
  return ::syscall(SYS_getcwd, reached, sizeof reached) > 0 && reached[0] == '/';
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (const std::string& text : texts) list.push_back(const_cast<char*>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

std::string path_variable(const std::vector<std::string>& env) {
  for (const std::string& entry : env)
    if (entry.starts_with("PATH=")) return entry.substr(5);
  return "";
}

// Returns only on failure: the errno that says why no program could be executed.
int execute(const SpawnSpec& spec) {
  const std::string& program = spec.argv.front();
  const std::vector<char*> argv = pointers(spec.argv), env = pointers(spec.env);
  if (program.empty()) return ENOENT;
  if (program.find('/') != std::string::npos) {
    ::execve(program.c_str(), argv.data(), env.data());
    return errno;
  }
  int reason = ENOENT;
  const std::string path = path_variable(spec.env);
  for (size_t start = 0; start <= path.size();) {
    const size_t end = std::min(path.find(':', start), path.size());
    const std::string directory = path.substr(start, end - start);
    ::execve(((directory.empty() ? "." : directory) + "/" + program).c_str(), argv.data(),
             env.data());
    if (errno != ENOENT && errno != ENOTDIR && reason == ENOENT) reason = errno;
    start = end + 1;
  }
  return reason;
}

[[noreturn]] void fail(Step step) {
  const char text = static_cast<char>(step);
  (void)!::write(kReportFd, &text, 1);
  ::_exit(kNotFound);
}

[[noreturn]] void run_child(const SpawnSpec& spec, const AgentSettings& settings,
                            const ChildEnds& ends, int report) {
  unblock_signals();
  give_up_advantages();
  ::setsid();
  ::umask(022);
  if (!adopt_descriptors(ends, report)) {
    // kReportFd may not be set up yet, so the original descriptor is used.
    const char text = static_cast<char>(Step::terminal);
    (void)!::write(report, &text, 1);
    ::_exit(kNotFound);
  }
  // From here on other processes of the user may inspect this one, so this comes after all of the
  // agent's descriptors were closed.
  be_ended_first();
  if (!become(spec.identity, settings)) fail(Step::identity);
  const bool started = spec.cwd.empty() && !settings.workdir.empty() &&
                       enter_directory(settings.workdir, spec.identity.home);
  if (!started && !enter_directory(spec.cwd, spec.identity.home)) fail(Step::directory);
  const int reason = execute(spec);
  // Report the start first: the agent reads the output only afterwards, and the line may be longer
  // than the pipe's buffer.
  ::close(kReportFd);
  const bool missing = reason == ENOENT || reason == ENOTDIR;
  ::dprintf(2, "%s: %s\n", spec.argv.front().c_str(),
            missing ? "command not found" : ::strerror(reason));
  ::_exit(missing ? kNotFound : kNotExecutable);
}

[[noreturn]] void refuse(pid_t pid, char step) {
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  if (step == static_cast<char>(Step::directory))
    throw Error::invalid("/cwd", "is no directory that the user may enter inside the sandbox");
  if (step == static_cast<char>(Step::identity))
    throw Error(ErrorCode::forbidden, "the process cannot become that user");
  throw Error(ErrorCode::unavailable, "the sandbox cannot start the process");
}

// Waits until the program runs or the child has reported the step that failed.
void await_start(pid_t pid, const File& report) {
  pollfd ready{report.get(), POLLIN, 0};
  // The tenant may stop the child before its program runs, hence the time limit.
  if (::poll(&ready, 1, kSetupMs) != 1) refuse(pid, static_cast<char>(Step::terminal));
  char step = 0;
  if (::read(report.get(), &step, 1) == 1) refuse(pid, step);
}

pid_t fork_child(const SpawnSpec& spec, const AgentSettings& settings, const ChildEnds& ends) {
  Pipe report = make_pipe();
  const pid_t pid = ::fork();
  if (pid < 0) throw Error(ErrorCode::quota_exceeded, "the sandbox has too many processes");
  if (pid == 0) run_child(spec, settings, ends, report.write.get());
  report.write.reset();
  await_start(pid, report.read);
  return pid;
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

Spawned spawn(const SpawnSpec& spec, const AgentSettings& settings) {
  Spawned child;
  if (spec.terminal) {
    Terminal terminal =
        open_terminal(spec.terminal->first, spec.terminal->second, spec.identity.uid);
    const int slave = terminal.slave.get();
    child.pid = fork_child(spec, settings, {slave, slave, slave, true});
    child.in = File(::fcntl(terminal.master.get(), F_DUPFD_CLOEXEC, 3));
    child.out = std::move(terminal.master);
    return child;
  }
  Pipe in = make_pipe(), out = make_pipe(), err = make_pipe();
  child.pid = fork_child(spec, settings, {in.read.get(), out.write.get(), err.write.get(), false});
  child.in = std::move(in.write);
  child.out = std::move(out.read);
  child.err = std::move(err.read);
  for (const File* file : {&child.in, &child.out, &child.err}) make_nonblocking(*file);
  return child;
}

}  // namespace sandgate::agent
