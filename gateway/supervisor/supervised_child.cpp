#include "gateway/supervisor/supervised_child.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "gateway/core/error.hpp"
#include "gateway/core/log.hpp"

namespace sandgate {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kFirstPause{100};
constexpr int kMaxDoublings = 5;  // at most 3.2 s between starts
constexpr std::chrono::seconds kStable{10};
constexpr std::chrono::milliseconds kTakenSoon{50};  // how soon a child usually reads its settings
constexpr std::chrono::milliseconds kMaxIdle{60'000};
constexpr int kMaxExits = 8;  // of a child that was never stable; takes about twenty seconds

}  // namespace

void SupervisedChild::schedule_restart(int failures) {
  failures_ = std::min(failures, kMaxDoublings);
  start_again_at_ = steady_clock::now() + kFirstPause * (1 << failures_);
}

std::optional<std::string> SupervisedChild::start_if_due() {
  if (pid_ != 0 || steady_clock::now() < start_again_at_) return std::nullopt;
  if (spec_.before_start) spec_.before_start();
  StartedChild started;
  try {
    started = start(spec_);
  } catch (const Error& error) {
    // Processes or descriptors are exhausted; the running children must continue.
    log::error("not started", {{"process", spec_.name}, {"reason", error.what()}});
    if (!stable_ && ++exits_ >= kMaxExits) return error.what();
    schedule_restart(failures_ + 1);
    return std::nullopt;
  }
  pid_ = started.pid;
  settings_ = std::move(started.settings);
  started_at_ = steady_clock::now();
  renewed_ = false;  // it was started with the renewed settings
  log::info("started", {{"process", spec_.name}, {"pid", pid_}});
  return std::nullopt;
}

std::optional<std::string> SupervisedChild::note_exit(pid_t pid, int status) {
  if (pid_ != pid) return std::nullopt;
  const bool was_stable = steady_clock::now() - started_at_ > kStable;
  stable_ = stable_ || was_stable;
  schedule_restart(was_stable ? 0 : failures_ + 1);
  pid_ = 0;
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  // Asked after the run that just ended was counted: a stable one proves its settings.
  const auto fatal = fatal_reason(status);
  const std::string words = exit_reason(settings_);
  if (fatal || words.empty())  // what is fatal is told at the end
    log::warn("ended by itself", {{"process", spec_.name}, {"exit_code", code}});
  else
    log::warn("ended by itself", {{"process", spec_.name}, {"exit_code", code}, {"reason", words}});
  return fatal;
}

std::optional<std::string> SupervisedChild::fatal_reason(int status) {
  if (stable_ || !WIFEXITED(status) || WEXITSTATUS(status) == 0) return std::nullopt;
  ++exits_;
  if (WEXITSTATUS(status) != kCannotStart && exits_ < kMaxExits) return std::nullopt;
  const std::string words = exit_reason(settings_);
  if (!words.empty()) return words;
  return "'" + spec_.name + "' cannot start: its own words are above";
}

void SupervisedChild::reload(const std::optional<Renewal>& renewal) {
  if (!spec_.reloads) return;
  if (renewal) {
    spec_.settings = renewal->settings;
    stop_timeout_ = renewal->stop_timeout;
    renewed_ = pid_ != 0;
  }
  if (pid_ != 0 && !renewed_) kill(pid_, SIGHUP);
}

void SupervisedChild::send_renewed() {
  if (pid_ == 0 || !renewed_) return;
  try {
    if (!replace_settings(settings_, spec_.settings)) return;
    kill(pid_, SIGHUP);
  } catch (const Error& error) {
    log::error("settings not handed on", {{"process", spec_.name}, {"reason", error.what()}});
  }
  renewed_ = false;
}

std::chrono::milliseconds SupervisedChild::idle_time() const {
  if (pid_ != 0) return renewed_ ? kTakenSoon : kMaxIdle;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(start_again_at_ - steady_clock::now());
  return std::clamp(left, std::chrono::milliseconds(0), kMaxIdle);
}

void SupervisedChild::stop() {
  if (pid_ == 0) return;
  kill(pid_, spec_.stop_signal);
  const auto limit = steady_clock::now() + stop_timeout_;
  while (waitpid(pid_, nullptr, WNOHANG) == 0) {
    if (steady_clock::now() > limit) kill(pid_, SIGKILL);
    usleep(5'000);
  }
  pid_ = 0;
}

}  // namespace sandgate
