#pragma once
#include "billing/meter.hpp"
#include "gateway/core/ids.hpp"
#include "gateway/sandboxes/ahead.hpp"

namespace sandgate {

// Writes the end of a sandbox while its backend ends it; told the final counters. False when it
// cannot be written at once: see sandbox_rows::set_ended_ahead().
using EndAhead = Ahead<Meter::Measured, bool>;

std::shared_ptr<EndAhead> write_end_ahead(Database& database, const asio::any_io_executor& executor,
                                          const SandboxId& id, Time at);

}  // namespace sandgate
