#pragma once
#include <functional>

#include "gateway/core/async.hpp"
#include "gateway/core/fair_semaphore.hpp"
#include "local/node/server/wire.hpp"
#include "local/node/supervisor/supervisor.hpp"

namespace sandgate {

// The server of the node's socket. It serves up to 2048 connections, on each one request after the
// other, from root and serve's user only. Verbs block, so they run on `pool`; those that end
// sandboxes run on `endings`, and those that copy disks on threads of their own. What may wait for
// a sandbox does so by timer, so that no tenant can occupy the threads that serve all.
class NodeServer {
 public:
  NodeServer(const NodeSettings& settings, Supervisor& supervisor, asio::thread_pool& pool,
             asio::thread_pool& endings);

  // Accepts connections until cancelled. Takes ownership of the listening socket.
  Task<void> serve(int listener);

 private:
  static constexpr size_t kCopies = 4;  // maximum number of concurrent copies

  Task<void> serve_connection(wire::Stream stream);
  Task<void> answer(wire::Stream& stream, const Json& request);
  // Runs a verb on the pool for its WorkClass.
  Task<Json> run(wire::Stream& caller, std::string verb, Json params);
  // Runs work that copies a disk of the tenant's. Copies are scheduled fairly among tenants; one
  // whose caller has left while it waited is not made.
  Task<Json> copy(wire::Stream& caller, std::string tenant, std::function<Json()> work);
  // Repeats `work` while it throws Error(timeout), so that no thread waits. Throws that after 15 s.
  Task<Json> retry_until_done(asio::thread_pool& pool, std::function<Json()> work);

  const NodeSettings& settings_;
  Supervisor& supervisor_;
  asio::thread_pool& pool_;
  asio::thread_pool& endings_;
  asio::thread_pool copies_{kCopies};  // of disks
  FairSemaphore copy_slots_{kCopies, kCopies / 2};  // by tenant; used on the loop's thread only
  int connections_ = 0;  // used on the loop's thread only
};

}  // namespace sandgate
