#pragma once
#include <optional>

#include "gateway/core/json_reader.hpp"
#include "gateway/core/time.hpp"

namespace sandgate {

// As RFC 3339, or null.
inline Json time_json(const std::optional<Time>& time) {
  return time ? Json(to_rfc3339(*time)) : Json();
}

}  // namespace sandgate
