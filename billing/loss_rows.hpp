#pragma once
#include <optional>
#include <string>
#include <vector>

#include "billing/losses.hpp"
#include "billing/metered_life.hpp"

// Losses and orphans as rows. Everything here runs inside a transaction of the caller's.
namespace sandgate {

enum class LossReason { late_end, orphan };
std::string_view to_string(LossReason reason);

// Whether that it was created is booked as usage.
bool is_create_charged(pqxx::work& tx, const MeteredLife& life);
// Moves a life's boundary and totals on by what is booked as its loss already.
void continue_losses(pqxx::work& tx, MeteredLife& life, const std::string& backend_id);

// Inserts what is not there yet; returns what that cost, by currency, without zeros.
std::vector<Money> insert_losses(pqxx::work& tx, const MeteredLife& life,
                                 const std::string& backend_id, LossReason reason,
                                 const std::vector<UsageEvent>& events);

void insert_orphan(pqxx::work& tx, const Orphan& orphan);
// Empty when it was not open. Only one caller ever gets it.
std::optional<Orphan> end_orphan(pqxx::work& tx, const std::string& deployment,
                                 const std::string& owner, const std::string& backend_id, Time at);
std::vector<std::string> open_orphans(pqxx::work& tx, const std::string& deployment,
                                      const std::string& owner);

}  // namespace sandgate
