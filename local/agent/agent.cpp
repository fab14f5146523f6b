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
      else if (!context_.processes.reaped(pid, status))
        context_.file_workers.erase(pid);
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
    if (!starts_lasting(request) || lasting() < kMaxLasting)
      return start_operation(context_, from, request);
    std::string text = request.dump();
    size_t bytes = text.size();
    for (const Waiting& one : waiting_) bytes += one.request.size();
    if (waiting_.size() >= kMaxWaiting || bytes > kMaxWaitingBytes)
      throw Error(ErrorCode::quota_exceeded, "the sandbox has too many commands and streams open");
    waiting_.push_back({&from, std::move(text)});
    return nullptr;
  }

  void start_waiting() {
    while (!waiting_.empty() && lasting() < kMaxLasting) {
      const Waiting next = std::move(waiting_.front());
      waiting_.pop_front();
      next.connection->start(parse_json(next.request));
    }
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
    std::erase_if(waiting_, [gone](const Waiting& one) { return one.connection == gone; });
    context_.loop.at(context_.loop.now(), [this, gone] {
      connections_.erase(gone);
      context_.loop.change(listener_watch_, EPOLLIN);
      start_waiting();
    });
  }

  struct Waiting {
    Connection* connection;
    std::string request;
  };

  Context context_;
  Fd listener_, children_;
  SyscallLimiter syscall_limiter_;
  Loop::Id listener_watch_ = 0;
  std::map<Connection*, std::unique_ptr<Connection>> connections_;
  std::deque<Waiting> waiting_;  // oldest first
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
