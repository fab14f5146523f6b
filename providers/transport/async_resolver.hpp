#pragma once
#include <functional>
#include <memory>
#include <string>

#include "gateway/core/host_addresses.hpp"

namespace sandgate {

// Resolves names on threads of its own. The system's resolver has no deadline and no cancellation,
// and a tenant's name server may never answer. find() can therefore be cancelled at any time; the
// lookup itself then continues in its thread. Limits bound the lookups, so that slow names of one
// tenant or domain do not block others.
class AsyncResolver {
 public:
  using Addresses = HostAddresses;
  using Resolve = std::function<Addresses(const std::string& host)>;  // blocks; must not throw
  struct Limits {
    size_t at_once = 32;
    size_t for_tenants = 24;  // of at_once, for tenants' upstreams
    size_t of_one_domain = 8;  // of at_once, for names that share their last two labels
    size_t waiting = 2000;  // beyond it, Error(unavailable)
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
