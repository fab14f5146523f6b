#pragma once
#include <atomic>
#include <thread>

#include "gateway/core/async.hpp"
#include "local/node/supervisor.hpp"
#include "local/node/turns.hpp"
#include "local/node/wire.hpp"

namespace sandgate {

// Answers requests on the node's socket: any number of connections at once, one request after the
// other on each. Only root and serve's user are heard. Verbs block: they run on the pool, those
// that end sandboxes on `endings`, and those that copy disks on threads of their own.
class NodeServer {
 public:
  NodeServer(const NodeSettings& settings, Supervisor& supervisor, asio::thread_pool& pool,
             asio::thread_pool& endings);

  // Serves connections until cancelled or the listener breaks; takes over the listening socket.
  Task<void> serve(int listener);

 private:
  static constexpr size_t kCopies = 4;  // at once

  Task<void> converse(wire::Stream stream);
  Task<void> answer(wire::Stream& stream, const Json& request);
  // On the threads for what takes as long as it may; copies of disks take turns by tenant.
  Task<Json> run(std::string verb, Json params);
  Task<Json> build_image(wire::Stream& stream, Json id, Json params);

  const NodeSettings& settings_;
  Supervisor& supervisor_;
  asio::thread_pool& pool_;
  asio::thread_pool& endings_;
  asio::thread_pool copies_{kCopies};  // of disks
  Turns copy_turns_{kCopies, kCopies / 2};  // by tenant; touched by the loop's thread only
  int connections_ = 0;  // touched by the loop's thread only
  std::atomic<bool> building_{false};
  std::jthread builder_;  // told to stop when this ends
};

}  // namespace sandgate
