#pragma once
#include <optional>

#include "gateway/core/moment.hpp"
#include "gateway/http/query.hpp"

// Spans of time as they are asked for, in queries and bodies alike: RFC 3339 times with any offset,
// or dates for their first moment in UTC.
namespace sandgate::api {

// [from, to); either may be left out, for what the route says.
struct AskedSpan {
  std::optional<Time> from, to;
};

// ?from and ?to. Throws Error(invalid) with path "?from" or "?to", the latter too when it is not
// after from.
AskedSpan span_parameters(const http::Query& query);
// The members from and to. What is wrong becomes the reader's problems, in the same way.
AskedSpan span_members(ObjectReader& reader);

// Both ends of a span that reaches to `now` if it does not say where it ends, and begins with the
// month (UTC) it ends in if it does not say where. Empty when it begins after now.
std::pair<Time, Time> whole_span(const AskedSpan& asked, Time now);

}  // namespace sandgate::api
