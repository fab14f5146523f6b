#include "gateway/sandboxes/end_ahead.hpp"

#include "gateway/sandboxes/store.hpp"

namespace sandgate {

std::shared_ptr<EndAhead> write_end_ahead(Database& database, const asio::any_io_executor& executor,
                                          const SandboxId& id, Time at) {
  auto ahead = std::make_shared<EndAhead>();
  start_ahead(executor, database, ahead, [ahead, id, at](pqxx::work& tx) {
    const auto ended_at = sandbox_rows::set_ended_ahead(tx, id, at);
    if (!ended_at) return false;
    sandbox_rows::close_meter_ahead(tx, id, *ended_at, ahead->wait());
    return true;
  });
  return ahead;
}

}  // namespace sandgate
