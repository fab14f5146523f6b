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
  if (text && !time) reader.problem(name, "must be an RFC 3339 time or a date");
  return time;
}

Time month_of_end(Time end) {
  const std::chrono::year_month_day last(
      std::chrono::floor<std::chrono::days>(end - std::chrono::microseconds(1)));
  return Time(std::chrono::sys_days(last.year() / last.month() / 1));
}

}  // namespace sandgate
