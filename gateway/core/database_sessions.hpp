#pragma once
#include "gateway/core/database.hpp"

namespace sandgate {

// Throws Error(conflict) if two connections that are open at once share a session of the server, as
// behind a pooler that lends one for a transaction or a statement. Prepared statements, listening,
// and the settings of a connection need a session each. A sharing that did not show, or a server
// that gives no second connection, is no error.
Task<void> require_own_sessions(Database& database);

}  // namespace sandgate
