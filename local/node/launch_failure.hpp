#pragma once
#include "gateway/core/error.hpp"
#include "local/namespaces/step_error.hpp"

namespace sandgate {

// Converts a failed step of creating a sandbox: no_capacity when the machine lacks resources, so
// that another backend may be tried, else internal.
Error to_error(const StepError& failure);

}  // namespace sandgate
