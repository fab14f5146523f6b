#pragma once
#include "billing/usage/meter.hpp"
#include "gateway/core/ids.hpp"
#include "gateway/sandboxes/speculative_write.hpp"

namespace sandgate {

// Writes the end of a sandbox while its backend ends it; given the final counters. False when it
// cannot be written at once: see sandbox_rows::set_ended_speculatively().
using SpeculativeEnd = SpeculativeWrite<Meter::Measured, bool>;

std::shared_ptr<SpeculativeEnd> start_speculative_end(Database& database,
                                                      const asio::any_io_executor& executor,
                                                      const SandboxId& id, Time at);

}  // namespace sandgate
