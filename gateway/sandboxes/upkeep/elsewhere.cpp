#include "gateway/sandboxes/upkeep/elsewhere.hpp"

#include "gateway/core/error.hpp"

namespace sandgate {

bool is_elsewhere(const std::string& id, const std::string& backend_id, const Descriptor& here) {
  const std::string somewhere = id + "@";
  return !here.machine.empty() && backend_id.starts_with(somewhere) &&
         backend_id != somewhere + here.machine;
}

void check_is_here(const std::string& id, const std::string& backend_id, const Descriptor& here) {
  if (is_elsewhere(id, backend_id, here))
    throw Error(ErrorCode::unavailable, "it is on the machine of another gateway");
}

bool is_on_own_machine(const std::string& id, const std::string& backend_id,
                       const Descriptor& here) {
  return !here.machine.empty() && !is_elsewhere(id, backend_id, here);
}

}  // namespace sandgate
