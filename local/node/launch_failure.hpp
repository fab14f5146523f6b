#pragma once
#include "gateway/core/error.hpp"
#include "local/namespaces/step_error.hpp"

namespace sandgate {

// Converts a failed step of creating a sandbox: no_capacity when the machine lacks resources, so
// that another backend may be tried, invalid when the image or snapshot has something else where a
// mount point belongs, else internal.
Error to_error(const StepError& failure);

}  // namespace sandgate
