#pragma once
#include <system_error>

#include "gateway/core/error.hpp"
#include "local/namespaces/step_error.hpp"

namespace sandgate {

// The code of a failed step: no_capacity when the machine lacks resources, so that another backend
// may be tried, invalid when the image or snapshot has something else where a mount point belongs,
// unavailable when the sandbox's process is gone, else internal.
ErrorCode failure_code(const StepError& failure);
// The same of a failed call of the standard library, such as the start of a thread.
ErrorCode failure_code(const std::system_error& failure);

// Whether the machine, or this account, has no more of something that ending sandboxes gives back:
// processes, memory, descriptors, disk space.
bool is_lack_of_resources(const StepError& failure);

// The error of a sandbox that could not be made because of this step.
Error to_error(const StepError& failure);

}  // namespace sandgate
