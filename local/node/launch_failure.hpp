#pragma once
#include "gateway/core/error.hpp"
#include "local/namespaces/step_error.hpp"

namespace sandgate {

// What a caller learns when a step of making a sandbox failed: no_capacity where the machine has
// too little left, so that another backend may help, else internal.
Error to_error(const StepError& failure);

}  // namespace sandgate
