#include "local/image/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>

#include "gateway/core/error.hpp"
#include "gateway/core/fd.hpp"

extern char** environ;

namespace sandgate {
namespace {

constexpr size_t kMaxLine = 4096;

// What asks this process to end waits while it lives, since the program has to end first.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t held;
    sigemptyset(&held);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&held, number);
    pthread_sigmask(SIG_BLOCK, &held, &before_);
    file_.reset(signalfd(-1, &held, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  HeldSignals(const HeldSignals&) = delete;
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  const sigset_t& before() const { return before_; }
  int file() const { return file_.get(); }
  // Takes one that came.
  void throw_if_any() const {
    signalfd_siginfo one{};
    if (read(file_.get(), &one, sizeof one) == sizeof one)
      throw Interrupted(static_cast<int>(one.ssi_signo));
  }

 private:
  sigset_t before_{};
  Fd file_;
};

// Starts it in a process group of its own, so that its children can be killed with it. It is asked
// to end if this process is killed: it may be fetching gigabytes that nobody wants any more.
pid_t start_program(const std::vector<std::string>& arguments, int output, const sigset_t& unheld) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_adddup2(&actions, output, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &unheld);
  std::vector<std::string> words = {"setpriv", "--pdeathsig", "TERM"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (const std::string& argument : words) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int failure = posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failure != 0)
    throw Error(ErrorCode::unavailable,
                "setpriv cannot be run; is it installed? (apt-get install util-linux)");
  return pid;
}

// Splits output into lines without control characters: it may come from the network, and terminals
// execute some control sequences.
class Lines {
 public:
  explicit Lines(const std::function<void(const std::string&)>& line) : line_(line) {}
  void add(std::string_view text) {
    for (const char c : text) {
      if (c == '\n' || c == '\r') {
        end();
      } else if (text_.size() < kMaxLine && static_cast<unsigned char>(c) >= ' ' && c != 127) {
        text_ += c;
      }
    }
  }
  void end() {
    if (!text_.empty()) line_(text_);
    text_.clear();
  }

 private:
  const std::function<void(const std::string&)>& line_;
  std::string text_;
};

// Returns whether the output ended in time.
bool read_all(int from, const HeldSignals& signals, std::chrono::steady_clock::time_point until,
              Lines& lines) {
  using namespace std::chrono;
  for (;;) {
    const auto left = duration_cast<milliseconds>(until - steady_clock::now()).count();
    if (left <= 0) return false;
    pollfd readable[] = {{from, POLLIN, 0}, {signals.file(), POLLIN, 0}};
    poll(readable, 2, static_cast<int>(std::min<int64_t>(left, INT_MAX)));
    signals.throw_if_any();
    if (readable[0].revents == 0) continue;
    char text[4096];
    const ssize_t got = read(from, text, sizeof text);
    if (got <= 0) return true;
    lines.add({text, static_cast<size_t>(got)});
  }
}

// Reaps the program; false when it has not ended by then.
bool has_ended(pid_t pid, const HeldSignals& signals, std::chrono::steady_clock::time_point until,
               int& status) {
  while (waitpid(pid, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > until) return false;
    pollfd readable{signals.file(), POLLIN, 0};
    poll(&readable, 1, 5);
    signals.throw_if_any();
  }
  return true;
}

}  // namespace

int run_program(const std::vector<std::string>& arguments, std::chrono::seconds timeout,
                const std::function<void(const std::string&)>& line) {
  int pipe_fds[2];
  if (pipe2(pipe_fds, O_CLOEXEC) != 0) throw Error(ErrorCode::unavailable, "no pipe");
  Fd in(pipe_fds[0]), out(pipe_fds[1]);
  const HeldSignals signals;
  const pid_t pid = start_program(arguments, out.get(), signals.before());
  out.reset();
  Lines lines(line);
  const auto until = std::chrono::steady_clock::now() + timeout;
  bool in_time = false;
  int status = 0;
  try {
    // A program that has closed its output may still run.
    in_time = read_all(in.get(), signals, until, lines) && has_ended(pid, signals, until, status);
    lines.end();
  } catch (...) {
    kill(-pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    throw;
  }
  if (!in_time) {
    kill(-pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    throw Error(ErrorCode::timeout, "it took too long");
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

}  // namespace sandgate
