#include "gateway/api/time_range.hpp"

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
  if (!time) throw Error::invalid("/" + name, kMomentRule);
  return time;
}

bool is_reversed(const TimeRange& range) {
  return range.from && range.to && *range.to <= *range.from;
}

}  // namespace

TimeRange time_range_parameters(const http::Query& query) {
  const TimeRange range{time_parameter(query, "from"), time_parameter(query, "to")};
  if (is_reversed(range)) throw Error::invalid("/to", kReversed);
  return range;
}

TimeRange time_range_members(ObjectReader& reader) {
  const TimeRange range{read_moment(reader, "from"), read_moment(reader, "to")};
  if (is_reversed(range)) reader.problem("to", kReversed);
  return range;
}

std::pair<Time, Time> resolve_time_range(const TimeRange& asked, Time now) {
  const Time to = asked.to.value_or(asked.from ? std::max(*asked.from, now) : now);
  return {asked.from.value_or(month_of_end(to)), to};
}

}  // namespace sandgate::api
