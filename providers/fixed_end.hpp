#pragma once
#include "gateway/core/error.hpp"
#include "gateway/core/time.hpp"

namespace sandgate {

// Returns Error(invalid) for a time to live that goes beyond `end`, when the backend ends the
// sandbox whatever it is told.
inline Error beyond_end(Time end) {
  return Error::invalid("/ttl_seconds", "the backend ends the sandbox at " + to_rfc3339(end) +
                                            " and keeps it no longer");
}

}  // namespace sandgate
