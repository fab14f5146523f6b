#include "local/agent/processes/child.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

#include "local/agent/processes/spawn_spec_codec.hpp"
#include "local/agent/resource_privileges.hpp"

namespace sandgate::agent {
namespace {

constexpr int kReportFd = 3;
constexpr int kSpawnSpecFd = 4;
constexpr int kNotFound = 127;
constexpr int kNotExecutable = 126;

bool adopt_descriptors(const ChildEnds& ends) {
  // Above the standard numbers first, so that no dup2 overwrites one still needed.
  const int in = ::fcntl(ends.in, F_DUPFD, 10);
  const int out = ::fcntl(ends.out, F_DUPFD, 10);
  const int err = ::fcntl(ends.err, F_DUPFD, 10);
  const int report = ::fcntl(ends.report, F_DUPFD, 10);
  const int spec_fd = ends.spec_fd < 0 ? -1 : ::fcntl(ends.spec_fd, F_DUPFD, 10);
  if (in < 0 || out < 0 || err < 0 || report < 0) return false;
  if (::dup2(in, 0) < 0 || ::dup2(out, 1) < 0 || ::dup2(err, 2) < 0) return false;
  if (::dup3(report, kReportFd, O_CLOEXEC) < 0) return false;
  if (ends.spec_fd >= 0 && ::dup3(spec_fd, kSpawnSpecFd, O_CLOEXEC) < 0) return false;
  const int kept = ends.spec_fd < 0 ? kReportFd : kSpawnSpecFd;
  if (::syscall(SYS_close_range, kept + 1, ~0u, 0) != 0) return false;
  return !ends.terminal || ::ioctl(0, TIOCSCTTY, 0) == 0;
}

bool enter_directory(const std::string& cwd, const std::string& home) {
  const std::string path = cwd.empty() ? home : cwd.front() == '/' ? cwd : home + "/" + cwd;
  const Fd directory(open_safely(AT_FDCWD, path.c_str(), O_PATH | O_DIRECTORY));
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

[[noreturn]] void fail(Step step, int report = kReportFd) {
  const char text = static_cast<char>(step);
  (void)!::write(report, &text, 1);
  ::_exit(kNotFound);
}

}  // namespace

void prepare_child(const ChildEnds& ends) noexcept {
  unblock_signals();
  ::setsid();
  ::umask(022);
  // kReportFd may not be set up after a failure, so the original descriptor is used.
  if (!adopt_descriptors(ends)) fail(Step::terminal, ends.report);
  // Only now: among many programs the agent's descriptors are beyond a program's limit.
  reset_child_limits();
  // From here on other processes of the user may inspect this one, so this comes after all of the
  // agent's descriptors were closed.
  raise_oom_score();
}

SpawnSpec receive_spawn_spec() noexcept {
  std::string encoded;
  char bytes[4096];
  for (ssize_t got; (got = ::read(kSpawnSpecFd, bytes, sizeof bytes)) != 0;) {
    if (got > 0) encoded.append(bytes, static_cast<size_t>(got));
    if (got < 0 && errno != EINTR) ::_exit(kNotFound);
  }
  if (encoded.empty()) ::_exit(kNotFound);
  ::close(kSpawnSpecFd);
  (void)!::write(kReportFd, &kSpecReceived, 1);
  return decode(encoded);
}

void run_program(const SpawnSpec& spec, const AgentSettings& settings) noexcept {
  if (!switch_identity(spec.identity, settings)) fail(Step::identity);
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

}  // namespace sandgate::agent
