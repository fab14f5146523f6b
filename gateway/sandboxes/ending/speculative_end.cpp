#include "gateway/sandboxes/ending/speculative_end.hpp"

#include "gateway/sandboxes/rows/sandbox_rows.hpp"

namespace sandgate {

std::shared_ptr<SpeculativeEnd> start_speculative_end(Database& database,
                                                      const asio::any_io_executor& executor,
                                                      const SandboxId& id, Time at) {
  auto speculative = std::make_shared<SpeculativeEnd>();
  start_speculative_write(executor, database, speculative, [speculative, id, at](pqxx::work& tx) {
    const auto ended_at = sandbox_rows::set_ended_speculatively(tx, id, at);
    if (!ended_at) return false;
    sandbox_rows::close_meter_speculatively(tx, id, *ended_at, speculative->wait());
    return true;
  });
  return speculative;
}

}  // namespace sandgate
