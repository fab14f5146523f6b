#pragma once
#include "providers/sandbox.hpp"

namespace sandgate {

// Provider::granted() of a vendor whose sandboxes all have one size, which `limits` states. The
// number of processes is as asked.
inline Resources fixed_resources(const DescriptorLimits& limits, const Resources& asked) {
  return {.milli_vcpu = limits.max_milli_vcpu,
          .memory_mib = limits.max_memory_mib,
          .disk_gib = limits.max_disk_gib,
          .processes = asked.processes};
}

}  // namespace sandgate
