#pragma once
#include <functional>
#include <memory>
#include <string>

#include "gateway/core/host_addresses.hpp"

namespace sandgate {

// Looks up names beside the event loops. The system's lookup knows no deadline and no cancellation,
// and a name server of a tenant's own may never answer: who asks here may leave at any time, what
// was begun goes on in a thread of its own.
// Bounded, and fair to who asks for other names: see Limits.
class NameLookup {
 public:
  using Addresses = HostAddresses;
  using Ask = std::function<Addresses(const std::string& host)>;  // blocks, throws nothing
  struct Limits {
    size_t at_once = 32;
    size_t for_tenants = 24;  // of these, for the upstreams of tenants
    size_t of_one_domain = 8;  // of these, for names with the same last two labels
    size_t waiting = 2000;  // beyond it, Error(unavailable)
  };
  NameLookup();  // asks the system
  NameLookup(Ask ask, Limits limits);

  // Empty when there is no such name. An address is its own answer. `trusted`: the operator's.
  Task<Addresses> find(std::string host, bool trusted);

  // The process's.
  static NameLookup& shared();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace sandgate
