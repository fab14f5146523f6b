#include "gateway/placement/discard_sandbox.hpp"

#include "gateway/core/log.hpp"

namespace sandgate {

Task<void> discard_sandbox(DeploymentPtr deployment, std::string backend_id,
                           std::string sandbox_id) {
  const auto found = co_await deployment->backend->find(backend_id);
  if (found && found->sandbox_id != sandbox_id) {
    log::error("a backend answered a create with somebody else's sandbox",
               {{"sandbox", sandbox_id},
                {"deployment", deployment->name},
                {"backend_id", backend_id},
                {"carries", found->sandbox_id}});
    co_return;
  }
  co_await deployment->backend->kill(backend_id);
}

}  // namespace sandgate
