#pragma once
#include <optional>
#include <string>
#include <vector>

#include "billing/ledger/losses.hpp"
#include "billing/usage/metered_life.hpp"

// SQL access to losses and orphans, inside the caller's transaction.
namespace sandgate {

enum class LossReason { late_end, orphan };
std::string_view to_string(LossReason reason);

// Whether its sandbox_created event is booked as usage.
bool is_create_charged(pqxx::work& tx, const MeteredLife& life);
// Advances a life's boundary and totals past the losses that are booked for it.
void continue_losses(pqxx::work& tx, MeteredLife& life, const std::string& backend_id);

// Inserts the losses that are not booked yet. Returns their cost by currency, without zeros.
std::vector<Money> insert_losses(pqxx::work& tx, const MeteredLife& life,
                                 const std::string& backend_id, LossReason reason,
                                 const std::vector<UsageEvent>& events);

void insert_orphan(pqxx::work& tx, const Orphan& orphan);
// Ends an open orphan and returns it, to one caller only; empty when it is not open.
std::optional<Orphan> end_orphan(pqxx::work& tx, const std::string& deployment,
                                 const std::string& owner, const std::string& backend_id, Time at);
std::vector<std::string> open_orphans(pqxx::work& tx, const std::string& deployment,
                                      const std::string& owner);

}  // namespace sandgate
