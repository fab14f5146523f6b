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

// Looks names up for all sandboxes. A lookup blocks its thread and cannot be called off, and whose
// name it is decides how long: so a sandbox and a tenant have only so many of the threads,
// sandboxes take turns, and nobody waits beyond a deadline. To be called on the loop's thread.
class Lookups {
 public:
  using Find = std::function<Addresses(const std::string& name)>;  // called on the threads
  struct Limits {
    size_t threads = 64, of_tenant = 32, of_sandbox = 4;
    std::chrono::milliseconds patience{10'000};
  };
  struct Asker {
    std::string tenant, sandbox;
  };

  Lookups(asio::io_context& loop, Limits limits, Find find = host_addresses);

  // No value: no answer in time.
  Task<std::optional<Addresses>> addresses_of(Asker asker, std::string name);

 private:
  struct Lookup {
    Lookup(asio::io_context& loop, std::string name) : name(std::move(name)), over(loop) {}
    const std::string name;
    asio::steady_timer over;  // at the deadline, or cancelled when found
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
  Queues::iterator next_in_turn();
  void start(const std::string& sandbox, Queue& queue);
  void ended(const std::string& sandbox, const std::string& tenant);
  void forget_if_idle(const std::string& sandbox);

  asio::io_context& loop_;
  const Limits limits_;
  const Find find_;
  Queues queues_;  // by sandbox: those that wait or are looked up for
  std::map<std::string, size_t> tenants_;  // how many lookups each has under way
  size_t running_ = 0;
  std::string last_;  // whose turn it was
  asio::thread_pool threads_;
};

}  // namespace sandgate::egress
