#include "gateway/sandboxes/ending/measured_end.hpp"

#include <algorithm>

namespace sandgate {

Meter::Measured measured_end(const SandboxMetrics& counted, Time received_at, Time received_here) {
  Meter::Measured measured = measured_of(counted, received_at);
  // Negative when this machine's clock was set back in between.
  const Time::duration ago = received_here - counted.sampled_at;
  measured.sampled_at = received_at - std::max(ago, Time::duration::zero());
  return measured;
}

}  // namespace sandgate
