#pragma once
#include <functional>

#include <pqxx/pqxx>

#include "gateway/core/json_reader.hpp"

namespace sandgate {

// A callback for the audit trail, called inside the transaction of a change with the state before
// and after (null: none). Empty: the change is not audited.
using ChangeTrail = std::function<void(pqxx::work& tx, const Json& before, const Json& after)>;

}  // namespace sandgate
