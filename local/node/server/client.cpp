#include "local/node/server/client.hpp"

#include <atomic>
#include <mutex>
#include <vector>

#include "gateway/core/fd.hpp"
#include "gateway/core/unix_dial.hpp"
#include "local/node/server/wire.hpp"

namespace sandgate {
namespace {

constexpr size_t kMaxIdle = 8;
constexpr std::chrono::milliseconds kRestartTime{2000}, kDialPause{20};

bool is_absence(const boost::system::error_code& failure) {
  return failure == asio::error::connection_refused ||
         failure == boost::system::errc::no_such_file_or_directory;
}

}  // namespace

// The pool of idle connections. They are kept as descriptors, because each caller has an executor
// of its own.
class NodeClient::Idle {
 public:
  Fd take() {
    const std::lock_guard lock(mutex_);
    while (!sockets_.empty()) {
      Fd socket = std::move(sockets_.back());
      sockets_.pop_back();
      if (wire::is_idle(socket.get())) return socket;
    }
    return {};
  }
  void give(Fd socket) {
    const std::lock_guard lock(mutex_);
    if (sockets_.size() < kMaxIdle) sockets_.push_back(std::move(socket));
  }

 private:
  std::mutex mutex_;
  std::vector<Fd> sockets_;
};

// Whether a node that nobody answers for is expected back.
class NodeClient::Presence {
 public:
  void reached() { expected_until_ = kPresent; }
  void missed() { ++misses_; }
  size_t misses() const { return misses_; }
  // To be called when the node was missed.
  bool is_expected() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    Nanoseconds until = kPresent;
    const Nanoseconds limit = (now + kRestartTime).count();
    return expected_until_.compare_exchange_strong(until, limit) || now.count() < until;
  }

 private:
  using Nanoseconds = std::chrono::steady_clock::rep;  // of the clock's own epoch
  static constexpr Nanoseconds kPresent = -1, kNeverReached = 0;

  std::atomic<Nanoseconds> expected_until_{kNeverReached};
  std::atomic<size_t> misses_{0};
};

// From its sending to its answer.
struct NodeClient::Question {
  Presence& presence;
  bool is_answered = false;
  ~Question() {
    if (!is_answered) presence.missed();
  }
};

NodeClient::NodeClient(std::string socket_path)
    : path_(std::move(socket_path)),
      idle_(std::make_unique<Idle>()),
      presence_(std::make_unique<Presence>()) {}

NodeClient::~NodeClient() = default;

size_t NodeClient::misses() const { return presence_->misses(); }

Task<void> NodeClient::dial(asio::local::stream_protocol::socket& socket) const {
  for (bool first = true;; first = false) {
    auto dialling = dial_unix(socket, asio::local::stream_protocol::endpoint(path_));
    const auto failure = co_await std::move(dialling);
    if (!failure) co_return presence_->reached();
    if (first) presence_->missed();
    if (!is_absence(failure) || !presence_->is_expected())
      throw Error(ErrorCode::unavailable, "the local node does not answer");
    socket.close();
    co_await sleep_for(kDialPause);
  }
}

Task<Json> NodeClient::call(std::string verb, Json params) const {
  wire::Stream stream(co_await asio::this_coro::executor);
  if (Fd kept = idle_->take()) {
    stream.assign(asio::local::stream_protocol(), kept.release());
  } else {
    co_await dial(stream);
  }
  Question question{*presence_};
  Json request{{"id", 1}, {"verb", std::move(verb)}, {"params", std::move(params)}};
  co_await wire::send(stream, std::move(request));
  std::optional<Json> answer = co_await wire::receive(stream);
  const bool failed = answer && answer->contains("error");
  if (!answer || (!failed && !answer->contains("result")))
    throw Error(ErrorCode::unavailable, "the local node broke off");
  question.is_answered = true;
  idle_->give(Fd(stream.release()));
  if (failed) throw wire::error_from(*answer);
  co_return (*answer)["result"];
}

}  // namespace sandgate
