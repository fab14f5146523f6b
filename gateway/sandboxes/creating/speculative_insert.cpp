#include "gateway/sandboxes/creating/speculative_insert.hpp"

namespace sandgate {
namespace {

bool is_same(const Placed& one, const Placed& other) {
  return one.deployment == other.deployment && one.sandbox.backend_id == other.sandbox.backend_id &&
         one.sandbox.isolation == other.sandbox.isolation &&
         one.sandbox.region == other.sandbox.region;
}

}  // namespace

void SpeculativeInsert::answer(const std::optional<Placed>& placed) {
  set_answer(placed && is_same(*placed, foreseen_) ? placed : std::nullopt);
}

}  // namespace sandgate
