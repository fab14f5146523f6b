#include "gateway/supervisor/process_supervisor.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gateway/core/error.hpp"
#include "gateway/core/log.hpp"

namespace sandgate {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kFirstPause{100};
constexpr int kMaxDoublings = 5;  // at most 3.2 s between starts
constexpr std::chrono::seconds kStable{10};
constexpr std::chrono::milliseconds kTakenSoon{50};  // how soon a child usually reads its settings
constexpr int kMaxExits = 8;  // of a child that was never stable; takes about twenty seconds

int signal_descriptor() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, number);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

}  // namespace

void ProcessSupervisor::add(ChildSpec spec, std::chrono::seconds stop_timeout) {
  Child child;
  child.spec = std::move(spec);
  child.stop_timeout = stop_timeout;
  children_.push_back(std::move(child));
}

void ProcessSupervisor::schedule_restart(Child& child, int failures) {
  child.failures = std::min(failures, kMaxDoublings);
  child.start_again_at = steady_clock::now() + kFirstPause * (1 << child.failures);
}

std::optional<std::string> ProcessSupervisor::start_due() {
  for (Child& child : children_) {
    if (child.pid != 0 || steady_clock::now() < child.start_again_at) continue;
    if (child.spec.before_start) child.spec.before_start();
    StartedChild started;
    try {
      started = start(child.spec);
    } catch (const Error& error) {
      // Processes or descriptors are exhausted; the running children must continue.
      log::error("not started", {{"process", child.spec.name}, {"reason", error.what()}});
      if (!child.stable && ++child.exits >= kMaxExits) return error.what();
      schedule_restart(child, child.failures + 1);
      continue;
    }
    if (child.settings >= 0) close(child.settings);
    child.pid = started.pid;
    child.settings = started.settings;
    child.started_at = steady_clock::now();
    child.renewed = false;  // it was started with the renewed settings
    log::info("started", {{"process", child.spec.name}, {"pid", child.pid}});
  }
  return std::nullopt;
}

void ProcessSupervisor::ended(Child& child, int status) {
  const bool was_stable = steady_clock::now() - child.started_at > kStable;
  child.stable = child.stable || was_stable;
  schedule_restart(child, was_stable ? 0 : child.failures + 1);
  child.pid = 0;
  log::warn("ended by itself",
            {{"process", child.spec.name},
             {"exit_code", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)}});
}

std::optional<std::string> ProcessSupervisor::fatal_reason(Child& child, int status) {
  if (child.stable || !WIFEXITED(status) || WEXITSTATUS(status) == 0) return std::nullopt;
  ++child.exits;
  if (WEXITSTATUS(status) != kCannotStart && child.exits < kMaxExits) return std::nullopt;
  const std::string words = exit_reason(child.settings);
  if (!words.empty()) return words;
  return "'" + child.spec.name + "' cannot start: its own words are above";
}

std::optional<std::string> ProcessSupervisor::reap() {
  int status = 0;
  // Also reaps orphans of a dead node: this process is the subreaper.
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
    for (Child& child : children_) {
      if (child.pid != pid) continue;
      ended(child, status);
      // Asked after the run that just ended was counted: a stable one proves its settings.
      if (auto reason = fatal_reason(child, status)) return reason;
    }
  }
  return std::nullopt;
}

int ProcessSupervisor::milliseconds_to_next_start() const {
  int64_t wait = 60'000;
  for (const Child& child : children_)
    if (child.pid == 0)
      wait = std::min<int64_t>(wait, std::chrono::duration_cast<std::chrono::milliseconds>(
                                         child.start_again_at - steady_clock::now())
                                             .count() +
                                         1);
    else if (child.renewed)
      wait = std::min<int64_t>(wait, kTakenSoon.count());
  return static_cast<int>(std::max<int64_t>(wait, 0));
}

void ProcessSupervisor::reload() {
  const auto renewal = renew_ ? renew_() : std::nullopt;
  for (Child& child : children_) {
    if (!child.spec.reloads) continue;
    if (renewal) {
      child.spec.settings = renewal->settings;
      child.stop_timeout = renewal->stop_timeout;
      child.renewed = child.pid != 0;
    }
    if (child.pid != 0 && !child.renewed) kill(child.pid, SIGHUP);
  }
}

void ProcessSupervisor::send_renewed() {
  for (Child& child : children_) {
    if (child.pid == 0 || !child.renewed) continue;
    try {
      if (!replace_settings(child.settings, child.spec.settings)) continue;
      kill(child.pid, SIGHUP);
    } catch (const Error& error) {
      log::error("settings not handed on",
                 {{"process", child.spec.name}, {"reason", error.what()}});
    }
    child.renewed = false;
  }
}

void ProcessSupervisor::stop_all() {
  for (auto child = children_.rbegin(); child != children_.rend(); ++child) {
    if (child->pid == 0) continue;
    kill(child->pid, child->spec.stop_signal);
    const auto limit = steady_clock::now() + child->stop_timeout;
    while (waitpid(child->pid, nullptr, WNOHANG) == 0) {
      if (steady_clock::now() > limit) kill(child->pid, SIGKILL);
      usleep(5'000);
    }
    child->pid = 0;
  }
}

int ProcessSupervisor::run() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const int signals = signal_descriptor();
  bool told = false;
  std::optional<std::string> reason;
  while (!told && !reason) {
    reason = start_due();
    if (reason) break;
    pollfd waiting{signals, POLLIN, 0};
    poll(&waiting, 1, milliseconds_to_next_start());
    signalfd_siginfo info;
    while (!told && read(signals, &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
      if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT) told = true;
      if (info.ssi_signo == SIGHUP) reload();
    }
    if (!told) send_renewed();
    if (!told) reason = reap();
  }
  stop_all();
  close(signals);
  // Thrown last, so that the reason is the last line of output.
  if (reason) throw Error(ErrorCode::unavailable, *reason);
  return 0;
}

}  // namespace sandgate
