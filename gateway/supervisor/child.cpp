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
int memory_file(const std::string& text) {
  const int descriptor = memfd_create("settings", MFD_CLOEXEC);
  if (descriptor < 0 ||
      write(descriptor, text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      lseek(descriptor, 0, SEEK_SET) != 0) {
    const int number = errno;
    if (descriptor >= 0) close(descriptor);
    throw Error(ErrorCode::unavailable, std::string("memfd_create: ") + std::strerror(number));
  }
  return descriptor;
}

// Runs in the child between fork and exec: only async-signal-safe calls are allowed.
[[noreturn]] void become_child(const ChildSpec& spec, int settings, int input, int output,
                               pid_t parent, char* const* argv, char* const* environment) {
  sigset_t blocked;
  sigemptyset(&blocked);
  if (spec.reloads) sigaddset(&blocked, SIGHUP);
  sigprocmask(SIG_SETMASK, &blocked, nullptr);
  if (input >= 0) dup2(input, 0);
  if (output >= 0) {
    dup2(output, 1);
    dup2(output, 2);
  }
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

pid_t spawn(const ChildSpec& spec, int settings, int input, int output) {
  const auto argv = pointers(spec.argv);
  const auto environment = pointers(spec.environment);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0)
    become_child(spec, settings, input, output, parent, argv.data(), environment.data());
  if (pid < 0)
    throw Error(ErrorCode::unavailable, "cannot start " + spec.name + ": " + std::strerror(errno));
  return pid;
}

std::string contents(int descriptor) {
  std::string text;
  std::array<char, 4096> buffer;
  lseek(descriptor, 0, SEEK_SET);
  for (ssize_t got; (got = read(descriptor, buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<size_t>(got));
  return text;
}

}  // namespace

StartedChild start(const ChildSpec& spec) {
  const int settings = spec.settings.empty() ? -1 : memory_file(spec.settings);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  try {
    const pid_t pid = spawn(spec, settings, null, -1);
    close(null);
    return {pid, settings};
  } catch (const Error&) {
    close(null);
    if (settings >= 0) close(settings);
    throw;
  }
}

bool replace_settings(int file, const std::string& settings) {
  struct stat state {};
  if (fstat(file, &state) != 0 || state.st_size > 0) return false;
  if (pwrite(file, settings.data(), settings.size(), 0) != static_cast<ssize_t>(settings.size()))
    throw Error(ErrorCode::unavailable, std::string("settings: ") + std::strerror(errno));
  return true;
}

std::string exit_reason(int settings) {
  if (settings < 0) return "";
  std::array<char, kMaxWords> buffer;
  const ssize_t got = pread(settings, buffer.data(), buffer.size(), 0);
  std::string words(buffer.data(), static_cast<size_t>(std::max<ssize_t>(got, 0)));
  // The child never read its settings, so the file holds no message.
  if (words.starts_with("{")) return "";
  for (char& c : words)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return words;
}

int run_to_end(const ChildSpec& spec, const std::string& input) {
  const int in = memory_file(input), out = memory_file("");
  const pid_t pid = spawn(spec, -1, in, out);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (code != 0)
    log::error("program failed",
               {{"program", spec.name}, {"exit_code", code}, {"output", contents(out)}});
  close(in);
  close(out);
  return code;
}

}  // namespace sandgate
