#pragma once
#include <string>

#include <pqxx/pqxx>

namespace sandgate {

// Ties work to the run of a request under an Idempotency-Key, within the transaction that does the
// work: writes what it makes beside the claim, and throws Error(conflict), which undoes the work,
// when another run has taken the claim over. No claim ("") changes nothing.
void mark_effect(pqxx::work& tx, const std::string& claim, const std::string& made);
// The same for a call that makes several things: adds this one, after a space.
void add_effect(pqxx::work& tx, const std::string& claim, const std::string& made);

}  // namespace sandgate
