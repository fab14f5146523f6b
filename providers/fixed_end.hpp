#pragma once
#include <optional>

#include "gateway/core/error.hpp"
#include "gateway/core/time.hpp"

namespace sandgate {

// Returns Error(invalid) for a time to live that goes beyond `end`, when the backend ends the
// sandbox whatever it is told.
inline Error beyond_end(Time end) {
  return Error::invalid("/ttl_seconds", "the backend ends the sandbox at " + to_rfc3339(end) +
                                            " and keeps it no longer");
}

// Adds to a vendor's refusal of a longer life what it is about, and the present end if known.
inline Error refused_extension(const Error& error, std::optional<Time> end = std::nullopt) {
  if (error.code != ErrorCode::invalid) return error;
  return end ? beyond_end(*end) : Error::invalid("/ttl_seconds", error.what());
}

}  // namespace sandgate
