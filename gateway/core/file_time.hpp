#pragma once
#include <algorithm>
#include <cstdint>

#include "gateway/core/time.hpp"

namespace sandgate {

// The time of a file, in whole seconds since 1970, or the nearest that from_rfc3339() accepts: a
// program may give its files any number of seconds.
inline Time file_time(int64_t seconds) {
  constexpr int64_t kFirst = -62'135'510'400, kLast = 253'402'300'799;
  return from_micros(std::clamp(seconds, kFirst, kLast) * 1'000'000);
}

}  // namespace sandgate
