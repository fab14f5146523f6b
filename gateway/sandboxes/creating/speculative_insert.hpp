#pragma once
#include "gateway/placement/place.hpp"
#include "gateway/sandboxes/rows/record.hpp"
#include "gateway/sandboxes/speculative_write.hpp"

namespace sandgate {

// Writes a sandbox's row while its backend creates the sandbox.
class SpeculativeInsert : public SpeculativeWrite<Placed, SandboxRecord> {
 public:
  explicit SpeculativeInsert(Placed foreseen) : foreseen_(std::move(foreseen)) {}

  const Placed& foreseen() const { return foreseen_; }
  // Passes on the backend's answer; empty when it made nothing.
  void answer(const std::optional<Placed>& placed);

 private:
  const Placed foreseen_;
};

}  // namespace sandgate
