#pragma once
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "gateway/core/host_addresses.hpp"

namespace sandgate::egress {

using Addresses = HostAddresses;

// Queue of name lookups for all sandboxes, run on a thread pool. A lookup blocks its thread, cannot
// be cancelled, and the owner of the looked-up name can make it slow. So threads per sandbox are
// limited, a tenant's lookups may hold at most as many as remain free, sandboxes take turns, and
// callers wait at most `timeout`. To be used on the loop's thread only.
class FairResolver {
 public:
  // Called on the threads; as host_addresses().
  using Find = std::function<std::optional<Addresses>(const std::string& name)>;
  struct Limits {
    size_t threads = 64, of_sandbox = 4;
    std::chrono::milliseconds timeout{10'000};
  };
  struct Requester {
    std::string tenant, sandbox;
  };

  FairResolver(asio::io_context& loop, Limits limits, Find find = host_addresses);

  // Returns the addresses of a name, none when it does not exist; empty when no resolver told that
  // in time.
  Task<std::optional<Addresses>> addresses_of(Requester requester, std::string name);

 private:
  struct Lookup {
    Lookup(asio::io_context& loop, std::string name) : name(std::move(name)), over(loop) {}
    const std::string name;
    asio::steady_timer over;  // expires at the deadline, cancelled when found
    std::optional<Addresses> found;
  };
  using LookupPtr = std::shared_ptr<Lookup>;
  struct Queue {
    std::string tenant;
    std::deque<LookupPtr> waiting;
    size_t running = 0;
  };
  using Queues = std::map<std::string, Queue>;

  void start_waiting();
  bool may_start(const Queue& queue) const;
  Queues::iterator next_queue();
  void start(const std::string& sandbox, Queue& queue);
  void ended(const std::string& sandbox, const std::string& tenant);
  void forget_if_idle(const std::string& sandbox);

  asio::io_context& loop_;
  const Limits limits_;
  const Find find_;
  Queues queues_;  // by sandbox, of those with waiting or running lookups
  std::map<std::string, size_t> tenants_;  // running lookups of each
  size_t running_ = 0;
  std::string last_;  // the sandbox that had the last turn
  asio::thread_pool threads_;
};

}  // namespace sandgate::egress
