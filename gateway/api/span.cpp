#include "gateway/api/span.hpp"

#include <algorithm>

namespace sandgate::api {
namespace {

constexpr char kReversed[] = "must be after from";

// An unescaped '+' of an offset is decoded as a space.
std::string with_its_plus(std::string text) {
  const size_t length = text.size();
  if (length > 19 && text[length - 6] == ' ' && text[length - 3] == ':') text[length - 6] = '+';
  return text;
}

std::optional<Time> time_parameter(const http::Query& query, const std::string& name) {
  const auto text = query.find(name);
  if (!text) return std::nullopt;
  const auto time = moment_from(with_its_plus(*text));
  if (!time) throw Error::invalid("?" + name, "must be an RFC 3339 time or a date");
  return time;
}

bool is_reversed(const AskedSpan& span) { return span.from && span.to && *span.to <= *span.from; }

}  // namespace

AskedSpan span_parameters(const http::Query& query) {
  const AskedSpan span{time_parameter(query, "from"), time_parameter(query, "to")};
  if (is_reversed(span)) throw Error::invalid("?to", kReversed);
  return span;
}

AskedSpan span_members(ObjectReader& reader) {
  const AskedSpan span{read_moment(reader, "from"), read_moment(reader, "to")};
  if (is_reversed(span)) reader.problem("to", kReversed);
  return span;
}

std::pair<Time, Time> whole_span(const AskedSpan& asked, Time now) {
  const Time to = asked.to.value_or(asked.from ? std::max(*asked.from, now) : now);
  return {asked.from.value_or(month_of_end(to)), to};
}

}  // namespace sandgate::api
