#include "local/agent/processes/process.hpp"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "gateway/core/error.hpp"
#include "local/agent/processes/pty.hpp"
#include "local/agent/processes/session.hpp"

namespace sandgate::agent {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::system_clock;

constexpr size_t kRingBytes = 1024 * 1024, kMinRingBytes = 128 * 1024;
constexpr size_t kReadBytes = 60 * 1024;  // fits one frame with its prefix
constexpr size_t kMaxBehind = 256 * 1024;  // output read but not yet taken by the slowest follower
constexpr int kReadsPerEvent = 8;  // so that one process does not starve the loop
constexpr milliseconds kGrace{200};  // for output after the end of the main process
constexpr milliseconds kDying{2000}, kDyingLook{2};  // of a group that its time limit ended
constexpr int kTimeoutCode = 124;
constexpr int kSignalBase = 128;

int64_t micros(system_clock::time_point time) {
  return duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
}

std::string signal_name(int number) {
  const char* name = ::sigabbrev_np(number);
  return "SIG" + (name ? std::string(name) : std::to_string(number));
}

}  // namespace

Process::Process(Loop& loop, ProcessSettings settings, Spawned child)
    : loop_(loop),
      settings_(std::move(settings)),
      child_(std::move(child)),
      ring_(kRingBytes),
      started_(loop_.now()),
      started_at_(system_clock::now()) {
  open_source(sources_[0], child_.out, 1);
  open_source(sources_[1], child_.err, 2);
  input_watch_ = loop_.watch(child_.in.get(), 0, [this](uint32_t) { on_input(); });
  if (settings_.timeout.count() > 0)
    timer_ = loop_.at(started_ + settings_.timeout, [this] {
      if (ended()) return;
      timed_out_ = true;
      kill();
    });
}

Process::~Process() {
  for (Source& source : sources_) close_source(source);
  drop_input();
  loop_.cancel(timer_);
}

void Process::open_source(Source& source, Fd& file, uint8_t channel) {
  if (!file) return;
  source.file = &file;
  source.channel = channel;
  source.open = true;
  source.watch = loop_.watch(file.get(), EPOLLIN, [this, &source](uint32_t) { on_output(source); });
}

void Process::add_observer(ProcessObserver* observer) {
  observers_.push_back(observer);
  update_watches();
}

void Process::remove_observer(ProcessObserver* observer) {
  std::erase(observers_, observer);
  update_watches();
}

void Process::progressed() { update_watches(); }

bool Process::may_read() const {
  const size_t most = std::min(kMaxBehind, ring_.limit() / 2);
  for (const ProcessObserver* observer : observers_) {
    const uint64_t position = observer->position();
    if (position >= ring_.end()) continue;
    if (ring_.end() - position >= most || ring_.pieces_from(position) >= Ring::kMaxPieces / 2)
      return false;
  }
  return true;
}

void Process::shrink(size_t ring_bytes) {
  for (const ProcessObserver* observer : observers_)
    if (observer->position() < ring_.end())
      ring_bytes = std::max<size_t>(ring_bytes, ring_.end() - observer->position());
  ring_.trim(ring_bytes);
}

// A trim here could drop output that a follower has not taken. Without it none is lost: may_read()
// admits new output only while followers are less than half of the limit behind.
void Process::set_buffer_limit(size_t ring_bytes) {
  ring_.set_limit(std::clamp(ring_bytes, kMinRingBytes, kRingBytes));
  if (observers_.empty()) ring_.trim(ring_.limit());
}

void Process::update_watches() {
  const uint32_t events = may_read() ? uint32_t{EPOLLIN} : 0;
  for (Source& source : sources_)
    if (source.open) loop_.change(source.watch, events);
}

void Process::on_output(Source& source) {
  drain(source);
  repeat_end();
  if (!result_) notify();
  update_watches();
  finish_if_drained();
}

void Process::drain(Source& source) {
  for (int i = 0; i < kReadsPerEvent && source.open && may_read(); ++i) {
    char bytes[kReadBytes];  // uninitialised, so that only the pages that are filled are touched
    const ssize_t got = ::read(source.file->get(), bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) {
      source.owed = 0;
      return;
    }
    if (got <= 0) return close_source(source);  // EIO: the terminal's last user has closed it
    source.owed -= std::min(source.owed, static_cast<size_t>(got));
    // A daemon may keep the pipe open and write after the exit was reported: discard its output.
    if (result_) continue;
    ring_.push(source.channel, std::string(bytes, static_cast<size_t>(got)));
  }
}

void Process::close_source(Source& source) {
  if (!source.open) return;
  source.open = false;
  loop_.drop(source.watch);
  source.file->reset();
}

bool Process::write_input(std::string_view bytes) {
  if (!input_open() || ended()) return false;
  input_.append(bytes);
  if (!bytes.empty()) end_is_for_lines_.reset();
  // A terminal takes either of them for the end of a line.
  if (!bytes.empty()) line_is_begun_ = bytes.back() != '\n' && bytes.back() != '\r';
  flush_input();
  return input_open();
}

void Process::close_input() {
  if (!input_open() || ended()) return;
  if (settings_.terminal)
    type_end(std::exchange(line_is_begun_, false));
  else
    input_closing_ = true;
  flush_input();
}

void Process::type_end(bool line_is_begun) {
  end_is_for_lines_ = reads_lines(child_.in.get());
  input_ += end_of_input(child_.in.get(), line_is_begun);
}

// A terminal forgets an unread end that was typed while it was read by lines once it is read by
// characters, as shells do from their first prompt on. That prompt is output, which is when to
// look.
void Process::repeat_end() {
  if (!end_is_for_lines_ || !input_open() || !input_.empty() || ended()) return;
  if (reads_lines(child_.in.get()) == *end_is_for_lines_) return;
  type_end(false);
  flush_input();
}

void Process::on_input() {
  flush_input();
  if (input_ready()) notify();
}

void Process::flush_input() {
  size_t written = 0;
  while (written < input_.size() && !input_closed_) {
    const ssize_t put = ::write(child_.in.get(), input_.data() + written, input_.size() - written);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EAGAIN) break;
    if (put < 0) return drop_input();
    written += static_cast<size_t>(put);
  }
  input_.erase(0, written);
  if (input_.empty() && input_closing_) return drop_input();
  if (!input_closed_) loop_.change(input_watch_, input_.empty() ? 0 : uint32_t{EPOLLOUT});
}

void Process::drop_input() {
  if (input_closed_) return;
  input_closed_ = true;
  input_.clear();
  loop_.drop(input_watch_);
  child_.in.reset();
}

void Process::signal(int number) const {
  if (ended()) throw Error(ErrorCode::conflict, "the process has ended");
  if (number < 1 || number >= NSIG) throw Error::invalid("/signal", "is no signal");
  if (::kill(-child_.pid, number) != 0 && ::kill(child_.pid, number) != 0)
    throw Error(ErrorCode::forbidden, "the process cannot be signalled");
}

void Process::kill() {
  if (ended()) return;
  ::kill(-child_.pid, SIGKILL);
  ::kill(child_.pid, SIGKILL);
  kill_session(child_.pid);
}

void Process::resize(uint16_t cols, uint16_t rows) {
  if (!settings_.terminal) throw Error(ErrorCode::conflict, "the process has no terminal");
  resize_terminal(child_.out.get(), cols, rows);
}

void Process::reaped(int wait_status) {
  wait_status_ = wait_status;
  ended_at_ = system_clock::now();
  duration_ = duration_cast<milliseconds>(loop_.now() - started_);
  loop_.cancel(timer_);
  drop_input();
  for (Source& source : sources_) {
    int waiting = 0;
    if (source.open && ::ioctl(source.file->get(), FIONREAD, &waiting) == 0 && waiting > 0)
      source.owed = static_cast<size_t>(waiting);
  }
  timer_ = loop_.at(loop_.now() + kGrace, [this] {
    grace_over_ = true;
    finish_if_drained();
  });
  for (Source& source : sources_) drain(source);
  notify();
  finish_if_drained();
}

void Process::finish_if_drained() {
  if (!ended() || result_) return;
  for (const Source& source : sources_)
    if (source.open && !(grace_over_ && source.owed == 0)) return;
  loop_.cancel(timer_);
  if (is_group_dying()) {
    timer_ = loop_.at(loop_.now() + kDyingLook, [this] { finish_if_drained(); });
    return;
  }
  ProcessResult result;
  const bool signalled = WIFSIGNALED(*wait_status_);
  if (signalled) result.signal = signal_name(WTERMSIG(*wait_status_));
  result.exit_code = signalled ? kSignalBase + WTERMSIG(*wait_status_) : WEXITSTATUS(*wait_status_);
  result.timed_out = timed_out_;
  if (timed_out_) result.exit_code = kTimeoutCode;
  result.duration = duration_;
  result_ = result;
  // Closing the master sends a hang-up to processes that still use the terminal.
  if (settings_.terminal) close_source(sources_[0]);
  notify();
}

// The kernel frees what a killed process holds, as memory and ports, a while after its signal.
bool Process::is_group_dying() const {
  const auto until = started_ + duration_ + kDying;
  return timed_out_ && loop_.now() < until && ::kill(-child_.pid, 0) == 0;
}

void Process::notify() {
  const std::vector<ProcessObserver*> observers = observers_;
  for (ProcessObserver* observer : observers)
    if (std::find(observers_.begin(), observers_.end(), observer) != observers_.end())
      observer->on_process();
}

nlohmann::json to_json(const ProcessResult& result) {
  return {{"exit_code", result.exit_code},
          {"signal", result.signal},
          {"timed_out", result.timed_out},
          {"duration_ms", result.duration.count()}};
}

nlohmann::json Process::describe() const {
  nlohmann::json document{{"id", settings_.id},
                          {"command", settings_.command},
                          {"pty", settings_.terminal},
                          {"background", settings_.background},
                          {"started_at", micros(started_at_)}};
  if (result_) {
    document["exit"] = to_json(*result_);
    document["ended_at"] = micros(ended_at_);
  }
  return document;
}

}  // namespace sandgate::agent
