#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "gateway/core/ids.hpp"
#include "gateway/core/relaxed_atomic.hpp"

namespace sandgate::http {

// The origin of a request: a caller of the API, or a visitor of an exposed port.
enum class Requester { caller, visitor };

// Limits the connections held by each tenant's requests, from authentication to the end of the
// answer, stream, WebSocket or relay. A tenant may hold at most as many as then remain free of
// `most`: half if it is alone, a third each for two greedy tenants. Port visitors may use three
// quarters of that. Every tenant may hold one. Thread-safe; must outlive the tokens of acquire().
class ConnectionQuota {
 public:
  explicit ConnectionQuota(size_t most) : limit_(most) {}

  // Applies to later calls of acquire(); held connections stay.
  void set_limit(size_t most) { limit_ = most; }
  // Takes a connection for the life of the returned token. Null if the tenant is at its limit.
  std::shared_ptr<void> acquire(const TenantId& tenant, Requester requester);

 private:
  // Nodes of the map are stable; a node is erased when its count reaches zero.
  using Counts = std::unordered_map<std::string, size_t>;

  void release(Counts::value_type& own);

  RelaxedAtomic<size_t> limit_;
  std::mutex mutex_;
  Counts held_;  // only tenants that hold connections
  size_t all_ = 0;
};

}  // namespace sandgate::http
