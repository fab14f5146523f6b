#pragma once
#include "local/namespaces/seccomp_filter.hpp"

namespace sandgate {

// Makes setsockopt() answer for some options what a kernel without them would, or report success
// without effect. Throws StepError.
void restrict_socket_options(SeccompFilter& filter);

}  // namespace sandgate
