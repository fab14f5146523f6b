#pragma once
#include <atomic>
#include <thread>

#include "gateway/core/async.hpp"
#include "local/node/supervisor.hpp"
#include "local/node/turns.hpp"
#include "local/node/wire.hpp"

namespace sandgate {

// Answers requests on the node's socket: any number of connections at once, one request after the
// other on each. Only root and serve's user are heard. What blocks runs on the pool, and on
// `endings` what ends sandboxes.
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
  Json handle(const std::string& verb, const Json& params);
  Task<Json> build_image(wire::Stream& stream, Json id, Json params);
  Json describe_node() const;
  Json find(const std::string& id) const;
  void remove_image(const std::string& name);
  // As long as a disk takes is too long for what all wait for, and as what one tenant has copied
  // for the others.
  Task<Json> copy(std::string verb, Json params);

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
