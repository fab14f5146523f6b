#include "gateway/placement/discard_sandbox.hpp"

#include "gateway/core/log.hpp"

namespace sandgate {

Task<bool> is_of_another_create(UnwantedSandbox unwanted) {
  const BackendSandbox& made = unwanted.sandbox;
  const auto found = co_await unwanted.deployment->backend->find(made.backend_id);
  if (!found || found->sandbox_id == made.sandbox_id) co_return false;
  log::error("a backend answered a create with somebody else's sandbox",
             {{"sandbox", made.sandbox_id},
              {"deployment", unwanted.deployment->name},
              {"backend_id", made.backend_id},
              {"carries", found->sandbox_id}});
  co_return true;
}

Task<void> discard_sandbox(UnwantedSandbox unwanted) {
  const bool is_anothers = co_await is_of_another_create(unwanted);
  if (!is_anothers) co_await unwanted.deployment->backend->kill(unwanted.sandbox.backend_id);
}

}  // namespace sandgate
