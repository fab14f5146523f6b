#pragma once
#include "billing/usage/meter.hpp"

namespace sandgate {

// The final counters from a backend that keeps them (Descriptor::reports_final_usage), with the
// end's time converted to the database's clock, on which charges are based. The backend reads this
// machine's clock, which may be minutes off, so only the age of the end is used. `received_at`,
// `received_here`: arrival of the backend's answer on the database's clock and on this machine's.
Meter::Measured measured_end(const SandboxMetrics& counted, Time received_at,
                             Time received_here = SystemClock().now());

}  // namespace sandgate
