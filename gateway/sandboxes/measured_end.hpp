#pragma once
#include "billing/meter.hpp"

namespace sandgate {

// What a backend that counts ends (Descriptor::counts_ends) had counted of a sandbox when it ended
// it, with that moment by the database's clock, by which all else is charged. The backend's clock
// is this machine's, which may be minutes off: it says only how long ago that was.
// `received_at`, `received_here`: when its answer came, by the database's clock and by this one's.
Meter::Measured measured_end(const SandboxMetrics& counted, Time received_at,
                             Time received_here = SystemClock().now());

}  // namespace sandgate
