#include "gateway/http/date.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <string>

#include "gateway/core/field_text.hpp"

namespace sandgate::http {
namespace {

constexpr int kYearsAhead = 50;
constexpr int kFirstYear = 1000 - 1900;  // of four digits, as std::tm counts
constexpr std::time_t kFirstSecond =
    std::chrono::sys_seconds(std::chrono::sys_days(std::chrono::year(1000) / 1 / 1))
        .time_since_epoch()
        .count();
constexpr int kLeapSecond = 60;
constexpr size_t kLongestDate = 64;
constexpr const char* kPreferred = "%a, %d %b %Y %H:%M:%S GMT";

Time time_of(std::tm parts) { return from_micros(int64_t{timegm(&parts)} * 1'000'000); }

std::string written(const std::tm& parts, const char* format) {
  std::array<char, kLongestDate> text;
  return {text.data(), std::strftime(text.data(), text.size(), format, &parts)};
}

bool is_in_calendar(std::tm parts) {
  const int day = parts.tm_mday;
  if (parts.tm_year < kFirstYear || parts.tm_sec > kLeapSecond) return false;
  parts.tm_sec = 0;  // a leap second would count as the next day's
  timegm(&parts);
  return parts.tm_mday == day;
}

// strptime alone also takes other case, other spacing and days such as the 31st of February.
std::optional<std::tm> parts_of(const std::string& text, const char* format) {
  std::tm parts{};
  const char* end = strptime(text.c_str(), format, &parts);
  if (!end || written(parts, format) != text || !is_in_calendar(parts)) return std::nullopt;
  return parts;
}

// The time whose year is only known by its last two digits.
Time time_near(Time now, std::tm parts) {
  const std::time_t seconds = to_micros(now) / 1'000'000;
  std::tm latest{};
  gmtime_r(&seconds, &latest);
  latest.tm_year += kYearsAhead;
  parts.tm_year = latest.tm_year - latest.tm_year % 100 + parts.tm_year % 100;
  if (time_of(parts) > time_of(latest)) parts.tm_year -= 100;
  return time_of(parts);
}

}  // namespace

std::optional<Time> date_from(std::string_view text, Time now) {
  const std::string date(trimmed(text));
  for (const char* format : {kPreferred, "%a %b %e %H:%M:%S %Y"})
    if (const auto parts = parts_of(date, format)) return time_of(*parts);
  const auto parts = parts_of(date, "%A, %d-%b-%y %H:%M:%S GMT");
  if (!parts) return std::nullopt;
  return time_near(now, *parts);
}

std::string date_text(Time at) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(at);
  const std::time_t seconds = std::max<std::time_t>(whole.time_since_epoch().count(), kFirstSecond);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return written(parts, kPreferred);
}

}  // namespace sandgate::http
