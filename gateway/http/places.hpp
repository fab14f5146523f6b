#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "gateway/core/ids.hpp"
#include "gateway/core/live.hpp"

namespace sandgate::http {

// Whose request holds a connection: a caller's own, or that of somebody who visits a port.
enum class Comer { caller, visitor };

// The connections that requests hold, from when it is known whose they are to the end of the
// answer, stream, WebSocket or relay. A tenant may hold as many as it leaves free of `most`: alone
// a half, two that want all a third each; visitors of its ports leave the last quarter of that to
// its callers. One connection every tenant may hold. Thread-safe; must outlive what take() returns.
class Places {
 public:
  explicit Places(size_t most) : most_(most) {}

  // From now on; what is held stays.
  void set_most(size_t most) { most_ = most; }
  // One more, for as long as what is returned lives. Null: the tenant holds all it may.
  std::shared_ptr<void> take(const TenantId& tenant, Comer comer);

 private:
  // Its nodes stay where they are until the last one leaves.
  using Counts = std::unordered_map<std::string, size_t>;

  void leave(Counts::value_type& own);

  Live<size_t> most_;
  std::mutex mutex_;
  Counts held_;  // of tenants that hold some
  size_t all_ = 0;
};

}  // namespace sandgate::http
