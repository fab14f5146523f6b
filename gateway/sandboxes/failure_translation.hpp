#pragma once
#include "gateway/sandboxes/lifecycle.hpp"

namespace sandgate {

// What to report for an error of a backend, which may come of the sandbox having ended or been
// paused meanwhile. When that cannot be found out, the error is returned as it is.

// For a failed call inside a sandbox; see SandboxAccess::translate_failure().
Task<Error> translate_failure(Lifecycle& lifecycle, TenantId tenant, SandboxId id, Error failure);
// For a refused operation on a whole sandbox (pause, extend, snapshot): not_found becomes the
// conflict of an ended sandbox, and any other conflict tells the sandbox's state.
Task<Error> translate_refusal(Lifecycle& lifecycle, TenantId tenant, SandboxId id, Error failure);

}  // namespace sandgate
