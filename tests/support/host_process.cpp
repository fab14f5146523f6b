#include "tests/support/host_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

namespace sandgate::test {
namespace {

constexpr size_t kRing = 1 << 20, kAhead = 256 << 10;

struct Pipe {
  int read, write;
};

Pipe make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
  return {ends[0], ends[1]};
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (auto& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> argv_of(const Command& command) {
  return command.shell.empty() ? command.argv
                               : std::vector<std::string>{"/bin/sh", "-c", command.shell};
}

std::vector<std::string> environment_of(const Command& command, const std::string& home) {
  std::vector<std::string> result{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + home};
  for (const auto& [name, value] : command.env) result.push_back(name + "=" + value);
  return result;
}

}  // namespace

HostProcess::HostProcess(asio::any_io_executor executor, Command command, std::string directory)
    : executor_(executor),
      command_(std::move(command)),
      stdin_(executor),
      change_(executor, asio::steady_timer::time_point::max()),
      foreground_(!command_.background) {
  auto arguments = argv_of(command_), environment = environment_of(command_, directory);
  const auto argv = pointers(arguments), envp = pointers(environment);
  const std::string cwd = command_.cwd.empty()     ? directory
                          : command_.cwd[0] == '/' ? command_.cwd
                                                   : directory + "/" + command_.cwd;
  if (access(cwd.c_str(), X_OK) != 0) throw Error::invalid("/cwd", "does not exist");
  const Pipe in = make_pipe(), out = make_pipe(), err = make_pipe();
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ == 0) {
    // Only async-signal-safe calls from here.
    setpgid(0, 0);
    dup2(in.read, 0);
    dup2(out.write, 1);
    dup2(err.write, 2);
    ::signal(SIGPIPE, SIG_DFL);
    if (chdir(cwd.c_str()) == 0) execvpe(argv[0], argv.data(), envp.data());
    constexpr char kMissing[] = "no such program\n";
    if (::write(2, kMissing, sizeof(kMissing) - 1) < 0) _exit(126);
    _exit(127);
  }
  setpgid(pid_, pid_);
  for (const int fd : {in.read, out.write, err.write}) close(fd);
  stdin_.assign(in.write);
  out_fd_ = out.read;
  err_fd_ = err.read;
  pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  started_ = SystemClock().now();
}

HostProcess::~HostProcess() {
  if (exit_) return;
  ::kill(-pid_, SIGKILL);
  int status;
  waitpid(pid_, &status, 0);
}

void HostProcess::start() {
  auto self = shared_from_this();
  // Weak in spirit: each holds the process only until it ended, which kill() brings about.
  spawn_detached(executor_, [self] { return self->pump(self->out_fd_, Channel::stdout_); });
  spawn_detached(executor_, [self] { return self->pump(self->err_fd_, Channel::stderr_); });
  spawn_detached(executor_, [self] { return self->watch(); });
}

bool HostProcess::has_room() const { return !foreground_ || total_ - read_ < kAhead; }

Task<void> HostProcess::wait_for_change() {
  boost::system::error_code woken;
  co_await change_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
}

Task<void> HostProcess::pump(int fd, Channel channel) {
  asio::posix::stream_descriptor output(executor_, fd);
  std::string buffer(64 << 10, '\0');
  for (;;) {
    while (!has_room()) co_await wait_for_change();
    boost::system::error_code failure;
    const size_t count = co_await output.async_read_some(
        asio::buffer(buffer), asio::redirect_error(asio::use_awaitable, failure));
    if (failure) break;
    total_ += count;
    kept_ += count;
    log_.push_back({channel, buffer.substr(0, count), total_});
    for (; kept_ > kRing && log_.size() > 1 && has_room() && !foreground_; log_.pop_front())
      kept_ -= log_.front().bytes.size();
    changed();
  }
  --open_outputs_;
  changed();
}

Task<void> HostProcess::watch() {
  asio::posix::stream_descriptor handle(executor_, pidfd_);
  asio::steady_timer limit(executor_);
  if (command_.timeout.count() > 0) {
    limit.expires_after(command_.timeout);
    limit.async_wait([self = weak_from_this()](boost::system::error_code stopped) {
      const auto process = self.lock();
      if (stopped || !process || process->exit_) return;
      process->timed_out_ = true;
      ::kill(-process->pid_, SIGKILL);
    });
  }
  co_await handle.async_wait(asio::posix::descriptor_base::wait_read, asio::use_awaitable);
  int status = 0;
  waitpid(pid_, &status, 0);
  ::kill(-pid_, SIGKILL);  // what it left behind
  while (open_outputs_ > 0) co_await wait_for_change();
  ProcessExit exit;
  exit.timed_out = timed_out_;
  if (WIFSIGNALED(status)) exit.signal = std::string("SIG") + sigabbrev_np(WTERMSIG(status));
  exit.exit_code = timed_out_            ? 124
                   : WIFSIGNALED(status) ? 128 + WTERMSIG(status)
                                         : WEXITSTATUS(status);
  ended_ = SystemClock().now();
  exit.duration = std::chrono::duration_cast<std::chrono::milliseconds>(ended_ - started_);
  exit_ = exit;
  changed();
}

Task<std::optional<ProcessEvent>> HostProcess::next(uint64_t& offset, bool& exited) {
  for (;;) {
    for (const auto& chunk : log_) {
      if (chunk.end_offset <= offset) continue;
      OutputChunk rest = chunk;
      const uint64_t begin = chunk.end_offset - chunk.bytes.size();
      if (offset > begin) rest.bytes.erase(0, offset - begin);
      offset = read_ = chunk.end_offset;
      changed();
      co_return ProcessEvent(std::move(rest));
    }
    if (exit_ && exited) co_return std::nullopt;
    if (exit_) {
      exited = true;
      co_return ProcessEvent(*exit_);
    }
    boost::system::error_code woken;
    co_await change_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
    const auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none)
      throw boost::system::system_error(asio::error::operation_aborted);
  }
}

Task<void> HostProcess::write(std::string bytes) {
  if (exit_ || !stdin_.is_open()) throw Error(ErrorCode::conflict, "stdin is closed");
  boost::system::error_code failure;
  co_await asio::async_write(stdin_, asio::buffer(bytes),
                             asio::redirect_error(asio::use_awaitable, failure));
  if (failure) throw Error(ErrorCode::conflict, "the process does not read its stdin");
}

void HostProcess::close_stdin() {
  boost::system::error_code ignored;
  stdin_.close(ignored);
}

void HostProcess::signal(int number) {
  if (!exit_) ::kill(-pid_, number);
}

void HostProcess::detach() {
  if (command_.keep_on_disconnect || command_.background)
    foreground_ = false;
  else
    signal(SIGKILL);
  foreground_ = false;
  changed();
}

ProcessInfo HostProcess::info() const {
  ProcessInfo info{.id = command_.process_id, .command = argv_of(command_)};
  info.background = command_.background;
  info.state = exit_ ? ProcessState::exited : ProcessState::running;
  info.exit = exit_;
  info.started_at = started_;
  if (exit_) info.ended_at = ended_;
  return info;
}

}  // namespace sandgate::test
