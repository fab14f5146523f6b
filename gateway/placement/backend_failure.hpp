#pragma once
#include "gateway/core/error.hpp"

namespace sandgate {

// Whether a backend's failure proves that the call had no effect. After any other failure the
// outcome is unknown: the effect may have happened, or may yet, and has to be looked for.
inline bool is_definite_failure(const Error& error) {
  return error.code != ErrorCode::timeout && error.code != ErrorCode::unavailable &&
         error.code != ErrorCode::internal;
}

// Whether the failure is certain and a retry would not help. A conflict ends by itself: it is with
// work that is under way, such as a copy of the disk.
inline bool is_permanent_failure(const Error& error) {
  return is_definite_failure(error) && error.code != ErrorCode::conflict &&
         error.code != ErrorCode::rate_limited && error.code != ErrorCode::quota_exceeded &&
         error.code != ErrorCode::no_capacity;
}

}  // namespace sandgate
