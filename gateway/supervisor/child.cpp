#include "gateway/supervisor/child.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "gateway/core/error.hpp"
#include "gateway/core/log.hpp"

namespace sandgate {
namespace {

constexpr size_t kMaxWords = 2048;

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (const auto& text : texts) list.push_back(const_cast<char*>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

// Creates an anonymous file that holds the text, positioned at its beginning.
Fd memory_file(const std::string& text) {
  Fd file(memfd_create("settings", MFD_CLOEXEC));
  if (!file || write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      lseek(file.get(), 0, SEEK_SET) != 0)
    throw Error(ErrorCode::unavailable, std::string("memfd_create: ") + std::strerror(errno));
  return file;
}

// Descriptors that a child gets; -1: none.
struct Handed {
  int input = -1;
  int output = -1;  // also for errors
  int settings = -1;  // at kSettingsDescriptor
};

// Runs in the child between fork and exec: only async-signal-safe calls are allowed.
[[noreturn]] void become_child(const ChildSpec& spec, const Handed& handed, pid_t parent,
                               char* const* argv, char* const* environment) {
  sigset_t blocked;
  sigemptyset(&blocked);
  if (spec.reloads) sigaddset(&blocked, SIGHUP);
  sigprocmask(SIG_SETMASK, &blocked, nullptr);
  if (handed.input >= 0) dup2(handed.input, STDIN_FILENO);
  if (handed.output >= 0) {
    dup2(handed.output, STDOUT_FILENO);
    dup2(handed.output, STDERR_FILENO);
  }
  const int settings = handed.settings;
  if (settings == kSettingsDescriptor) fcntl(settings, F_SETFD, 0);
  if (settings >= 0) dup2(settings, kSettingsDescriptor);
  close_range(settings >= 0 ? kSettingsDescriptor + 1 : kSettingsDescriptor, ~0U, 0);
  setsid();
  if (!switch_to_account(spec.account)) _exit(126);
  // Set after the change of user, which clears it.
  prctl(PR_SET_PDEATHSIG, spec.stop_signal);
  if (getppid() != parent) _exit(126);
  execve(argv[0], argv, environment);
  _exit(127);
}

pid_t spawn(const ChildSpec& spec, const Handed& handed) {
  const auto argv = pointers(spec.argv);
  const auto environment = pointers(spec.environment);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) become_child(spec, handed, parent, argv.data(), environment.data());
  if (pid < 0)
    throw Error(ErrorCode::unavailable, "cannot start " + spec.name + ": " + std::strerror(errno));
  return pid;
}

std::string contents(const Fd& file) {
  std::string text;
  std::array<char, 4096> buffer;
  lseek(file.get(), 0, SEEK_SET);
  for (ssize_t got; (got = read(file.get(), buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<size_t>(got));
  return text;
}

}  // namespace

StartedChild start(const ChildSpec& spec) {
  Fd settings = spec.settings.empty() ? Fd() : memory_file(spec.settings);
  const Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  const pid_t pid = spawn(spec, {.input = null.get(), .settings = settings.get()});
  return {pid, std::move(settings)};
}

bool replace_settings(const Fd& file, const std::string& settings) {
  struct stat state {};
  if (fstat(file.get(), &state) != 0 || state.st_size > 0) return false;
  if (pwrite(file.get(), settings.data(), settings.size(), 0) !=
      static_cast<ssize_t>(settings.size()))
    throw Error(ErrorCode::unavailable, std::string("settings: ") + std::strerror(errno));
  return true;
}

std::string exit_reason(const Fd& settings) {
  if (!settings) return "";
  std::array<char, kMaxWords> buffer;
  const ssize_t got = pread(settings.get(), buffer.data(), buffer.size(), 0);
  std::string words(buffer.data(), static_cast<size_t>(std::max<ssize_t>(got, 0)));
  // The child never read its settings, so the file holds no message.
  if (words.starts_with("{")) return "";
  for (char& c : words)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return words;
}

int run_to_end(const ChildSpec& spec, const std::string& input) {
  const Fd in = memory_file(input), out = memory_file("");
  const pid_t pid = spawn(spec, {.input = in.get(), .output = out.get()});
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (code != 0)
    log::error("program failed",
               {{"program", spec.name}, {"exit_code", code}, {"output", contents(out)}});
  return code;
}

}  // namespace sandgate
