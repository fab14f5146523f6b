#include "local/node/client.hpp"

#include <mutex>
#include <vector>

#include "gateway/core/unix_dial.hpp"
#include "local/fd.hpp"
#include "local/node/wire.hpp"

namespace sandgate {
namespace {

constexpr size_t kMaxIdle = 8;

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

NodeClient::NodeClient(std::string socket_path)
    : path_(std::move(socket_path)), idle_(std::make_shared<Idle>()) {}

NodeClient::~NodeClient() = default;

Task<Json> NodeClient::call(std::string verb, Json params) const {
  wire::Stream stream(co_await asio::this_coro::executor);
  if (Fd kept = idle_->take()) {
    stream.assign(asio::local::stream_protocol(), kept.release());
  } else {
    auto dialling = dial_unix(stream, asio::local::stream_protocol::endpoint(path_));
    const auto error = co_await std::move(dialling);
    if (error) throw Error(ErrorCode::unavailable, "the local node does not answer");
  }
  Json request{{"id", 1}, {"verb", std::move(verb)}, {"params", std::move(params)}};
  co_await wire::send(stream, std::move(request));
  std::optional<Json> answer = co_await wire::receive(stream);
  const bool failed = answer && answer->contains("error");
  if (!answer || (!failed && !answer->contains("result")))
    throw Error(ErrorCode::unavailable, "the local node broke off");
  idle_->give(Fd(stream.release()));
  if (failed) throw wire::error_from(*answer);
  co_return (*answer)["result"];
}

}  // namespace sandgate
