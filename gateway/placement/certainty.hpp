#pragma once
#include "gateway/core/error.hpp"

namespace sandgate {

// Whether a backend's failure leaves no doubt that nothing happened. What is not certain is
// unknown: it may have happened, or happen yet, and somebody has to look.
inline bool is_certain(const Error& error) {
  return error.code != ErrorCode::timeout && error.code != ErrorCode::unavailable &&
         error.code != ErrorCode::internal;
}

// Certain, and asking again later would not help.
inline bool is_final(const Error& error) {
  return is_certain(error) && error.code != ErrorCode::rate_limited &&
         error.code != ErrorCode::no_capacity;
}

}  // namespace sandgate
