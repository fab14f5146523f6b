#pragma once
#include <string>

#include <pqxx/pqxx>

namespace sandgate {

// Records the effect of a request with an Idempotency-Key, in the transaction that does the work:
// stores `made` with the claim. Throws Error(conflict), which undoes the work, when a retry has
// taken the claim over. No effect without a claim ("").
void mark_effect(pqxx::work& tx, const std::string& claim, const std::string& made);
// The same for a call that creates several things: appends `made` after a space.
void add_effect(pqxx::work& tx, const std::string& claim, const std::string& made);
// Forgets what was recorded, because nothing was made after all: a retry may run.
void clear_effect(pqxx::work& tx, const std::string& claim);

}  // namespace sandgate
