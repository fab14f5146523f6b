#include "local/agent/agent.hpp"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gateway/core/error.hpp"
#include "gateway/core/json_reader.hpp"
#include "local/agent/connection.hpp"
#include "local/agent/context.hpp"
#include "local/agent/requests.hpp"
#include "local/agent/resource_privileges.hpp"
#include "local/agent/syscall_limiter.hpp"

namespace sandgate::agent {
namespace {

// Connections with an operation that lasts, with one that waits for these, and with others, which
// must not wait for programs that their clients follow for hours.
constexpr size_t kMaxLasting = 256, kMaxWaiting = 256, kMaxOthers = 64;
constexpr size_t kMaxConnections = kMaxLasting + kMaxWaiting + kMaxOthers;
constexpr size_t kMaxWaitingBytes = 4 * 1024 * 1024;  // of the requests that wait
constexpr std::chrono::milliseconds kPause{50};  // after accept() failed for lack of resources
// A file's worker answers a moment before its process is gone, and whoever heard the answer may
// want its place at once. Where processor time is short, the quota stops the worker in between for
// most of a tenth of a second, more than once if others leave as well.
constexpr std::chrono::milliseconds kPatience{500};

bool lacks_place(const Error& refusal) {
  return refusal.code == ErrorCode::quota_exceeded || refusal.code == ErrorCode::unavailable;
}

// Accepts connections and reaps children until its listener breaks.
class Agent {
 public:
  explicit Agent(AgentSettings settings)
      : context_(std::move(settings)),
        listener_(context_.settings.listener),
        syscall_limiter_(context_.loop, context_.settings.seccomp_notifications) {}

  int run() {
    protect();
    raise_own_limits();
    prefork();
    context_.loop.watch(children_.get(), EPOLLIN, [this](uint32_t) { reap(); });
    listener_watch_ =
        context_.loop.watch(listener_.get(), EPOLLIN, [this](uint32_t events) { accept(events); });
    context_.loop.run();
    return 0;
  }

 private:
  struct Waiting {
    Connection* connection;
    std::string request;
    Loop::Instant until{};  // of one that was refused: when that is told
  };

  // All signals are blocked and SIGCHLD is read from a descriptor, so that a tenant's signals have
  // no effect on the agent.
  void protect() {
    reset_signals();
    sigset_t all, child;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    ::sigemptyset(&child);
    ::sigaddset(&child, SIGCHLD);
    children_ = Fd(::signalfd(-1, &child, SFD_NONBLOCK | SFD_CLOEXEC));
    if (!children_) throw Error(ErrorCode::internal, "the agent has no signal descriptor");
    ::prctl(PR_SET_DUMPABLE, context_.settings.dumpable ? 1 : 0, 0, 0, 0);
    context_.settings.bounding_set = read_bounding_set();
    if (::getpid() != 1) ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  }

  // Without room for one more process, the first program is started as any other.
  void prefork() {
    try {
      context_.preforked_child = std::make_unique<PreforkedChild>(context_.settings);
    } catch (const Error&) {
    }
  }

  void reap() {
    signalfd_siginfo info;
    while (::read(children_.get(), &info, sizeof info) > 0) continue;
    int status = 0;
    for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;) {
      if (WIFSTOPPED(status))
        end_if_file_worker(pid);
      else if (context_.preforked_child && context_.preforked_child->pid() == pid)
        context_.preforked_child->reaped();
      else if (!context_.processes.reaped(pid, status) && context_.file_workers.erase(pid) > 0)
        retry_refused();
    }
  }

  // A file worker runs as the tenant's user, who may stop it and so leave its client waiting.
  void end_if_file_worker(pid_t stopped) {
    if (context_.file_workers.contains(stopped)) ::kill(stopped, SIGKILL);
  }

  void accept(uint32_t events) {
    if (events & (EPOLLERR | EPOLLHUP)) return context_.loop.stop();
    if (connections_.size() >= kMaxConnections) return context_.loop.change(listener_watch_, 0);
    Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) return rest();
    auto connection = std::make_unique<Connection>(
        context_, std::move(socket),
        [this](Connection& from, const nlohmann::json& request) { return start(from, request); },
        [this](Connection* gone) { bury(gone); });
    Connection* const key = connection.get();
    connections_[key] = std::move(connection);
  }

  size_t lasting() const {
    return static_cast<size_t>(std::ranges::count_if(
        connections_, [](const auto& one) { return one.second->has_operation(); }));
  }

  std::unique_ptr<Operation> start(Connection& from, const nlohmann::json& request) {
    if (starts_lasting(request) && lasting() >= kMaxLasting) {
      keep(waiting_, {&from, request.dump()});
      return nullptr;
    }
    const auto until = std::exchange(patience_, {}).value_or(context_.loop.now() + kPatience);
    try {
      return start_operation(context_, from, request);
    } catch (const Error& refusal) {
      const bool may_wait = !context_.file_workers.empty() && context_.loop.now() < until;
      if (!lacks_place(refusal) || !may_wait) throw;
    }
    keep(refused_, {&from, request.dump(), until});
    context_.loop.at(until, [this] { retry_refused(); });
    return nullptr;
  }

  void keep(std::deque<Waiting>& queue, Waiting one) {
    size_t bytes = one.request.size();
    for (const Waiting& other : queue) bytes += other.request.size();
    if (queue.size() >= kMaxWaiting || bytes > kMaxWaitingBytes)
      throw Error(ErrorCode::quota_exceeded, "the sandbox has too many commands and streams open");
    queue.push_back(std::move(one));
  }

  void start_waiting() {
    while (!waiting_.empty() && lasting() < kMaxLasting) start_kept(waiting_);
  }

  // Those that are refused again wait on.
  void retry_refused() {
    for (size_t left = refused_.size(); left > 0 && !refused_.empty(); --left) {
      patience_ = refused_.front().until;
      start_kept(refused_);
    }
    patience_.reset();
  }

  static void start_kept(std::deque<Waiting>& queue) {
    const Waiting next = std::move(queue.front());
    queue.pop_front();
    next.connection->start(parse_json(next.request));
  }

  // The pending connection keeps the listener readable: without a pause the loop would spin.
  void rest() {
    if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return;
    context_.loop.change(listener_watch_, 0);
    context_.loop.at(context_.loop.now() + kPause,
                     [this] { context_.loop.change(listener_watch_, EPOLLIN); });
  }

  // Deferred: the connection's own functions are still on the stack.
  void bury(Connection* gone) {
    for (auto* queue : {&waiting_, &refused_})
      std::erase_if(*queue, [gone](const Waiting& one) { return one.connection == gone; });
    context_.loop.at(context_.loop.now(), [this, gone] {
      connections_.erase(gone);
      context_.loop.change(listener_watch_, EPOLLIN);
      start_waiting();
    });
  }

  Context context_;
  Fd listener_, children_;
  SyscallLimiter syscall_limiter_;
  Loop::Id listener_watch_ = 0;
  std::map<Connection*, std::unique_ptr<Connection>> connections_;
  std::deque<Waiting> waiting_, refused_;  // oldest first
  std::optional<Loop::Instant> patience_;  // of the refused one that is being started again
};

}  // namespace

int run_agent(AgentSettings settings) {
  try {
    return Agent(std::move(settings)).run();
  } catch (const std::exception& failure) {
    (void)!::write(2, failure.what(), std::char_traits<char>::length(failure.what()));
    return 1;
  }
}

}  // namespace sandgate::agent
