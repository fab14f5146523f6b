#pragma once
#include <optional>

#include "gateway/core/moment.hpp"
#include "gateway/http/query.hpp"

// Time spans in queries and bodies: RFC 3339 times with any offset, or dates, which stand for their
// first moment in UTC.
namespace sandgate::api {

// [from, to); the route defines what a missing end means.
struct TimeRange {
  std::optional<Time> from, to;
};

// Reads ?from and ?to. Throws Error(invalid) with path "/from" or "/to", the latter also if it is
// not after from.
TimeRange time_range_parameters(const http::Query& query);
// Reads the members from and to. Problems are added to the reader.
TimeRange time_range_members(ObjectReader& reader);

// Fills in missing ends: `to` is `now`, or `from` if that is later; `from` is the start of the
// month (UTC) in which the range ends.
std::pair<Time, Time> resolve_time_range(const TimeRange& asked, Time now);

}  // namespace sandgate::api
