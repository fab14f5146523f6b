#pragma once
#include "billing/usage/meter.hpp"
#include "providers/descriptor.hpp"

namespace sandgate {

// What is metered of a sandbox of that backend which is paused with that state.
inline MeterState metered_while_paused(Keeps kept, const Descriptor& descriptor) {
  const bool memory = kept == Keeps::memory && descriptor.bills_paused_memory;
  return memory ? MeterState::paused_memory : MeterState::paused_disk;
}

}  // namespace sandgate
