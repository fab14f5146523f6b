#pragma once
#include <functional>
#include <memory>
#include <string>

#include "gateway/core/host_addresses.hpp"

namespace sandgate {

// Resolves names on threads of its own. The system's resolver has no deadline and no cancellation,
// and a tenant's name server may never answer. find() can therefore be cancelled at any time; the
// lookup itself then continues in its thread. Limits bound the lookups, so that slow names of one
// tenant or domain do not block others: a domain has at most as many lookups under way for tenants,
// and as many waiting, as it leaves places free. Addresses that were found are kept for a while.
class AsyncResolver {
 public:
  using Addresses = HostAddresses;
  using Resolve = std::function<Addresses(const std::string& host)>;  // blocks; must not throw
  struct Limits {
    size_t at_once = 128;
    size_t for_tenants = 112;  // of at_once, for tenants' upstreams
    size_t of_one_domain = 8;  // of at_once, for names that share their last two labels
    size_t waiting = 2000;  // beyond it, Error(unavailable)
    std::chrono::milliseconds keep{60'000};  // of an answer that has addresses
  };
  AsyncResolver();  // uses the system's resolver
  AsyncResolver(Resolve ask, Limits limits);

  // Returns empty if the name does not exist or the resolver fails; an address literal is returned
  // as it is. `trusted`: the name is the operator's and not limited by for_tenants.
  Task<Addresses> find(std::string host, bool trusted);

  // The instance that the process shares.
  static AsyncResolver& shared();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace sandgate
