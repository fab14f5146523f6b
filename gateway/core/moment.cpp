#include "gateway/core/moment.hpp"

namespace sandgate {

std::optional<Time> moment_from(std::string_view text) {
  constexpr size_t kDate = std::string_view("2026-11-20").size();
  std::string whole(text);
  if (whole.size() == kDate) whole.append("T00:00:00Z");
  return from_rfc3339(whole);
}

std::optional<Time> read_moment(ObjectReader& reader, std::string_view name) {
  const auto text = reader.text(name, {.max = 64});
  const auto time = text ? moment_from(*text) : std::nullopt;
  if (text && !time) reader.problem(name, kMomentRule);
  return time;
}

std::pair<Time, Time> month_around(Time at) {
  const std::chrono::year_month_day day(std::chrono::floor<std::chrono::days>(at));
  const auto first = day.year() / day.month() / 1;
  const auto next = first + std::chrono::months(1);
  return {Time(std::chrono::sys_days(first)), Time(std::chrono::sys_days(next))};
}

std::optional<std::pair<Time, Time>> month_from(std::string_view text) {
  constexpr size_t kMonth = std::string_view("2026-10").size();
  const auto first = text.size() == kMonth ? moment_from(std::string(text) + "-01") : std::nullopt;
  if (!first || text == "9999-12") return std::nullopt;
  return month_around(*first);
}

Time month_of_end(Time end) { return month_around(end - std::chrono::microseconds(1)).first; }

}  // namespace sandgate
