#pragma once
#include <functional>

#include <pqxx/pqxx>

#include "gateway/core/json_reader.hpp"

namespace sandgate {

// The seam to the audit trail: called inside the transaction that changes something, with what was
// there before and after (null: nothing). Empty where nobody asks who changed what.
using ChangeTrail = std::function<void(pqxx::work& tx, const Json& before, const Json& after)>;

}  // namespace sandgate
