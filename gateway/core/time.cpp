#include "gateway/core/time.hpp"

#include <array>
#include <charconv>
#include <cstdio>

namespace sandgate {
namespace {

// One day after the start of year 1, so that the preceding moment can be written too: RFC 3339 has
// no year 0.
constexpr Time kEarliest = std::chrono::sys_days{std::chrono::year(1) / 1 / 2};
// Years have four digits: what an offset or a leap second moves past them could not be written.
constexpr Time kEnd = std::chrono::sys_days{std::chrono::year(10000) / 1 / 1};

// Reads exactly `digits` decimal digits at `at`; -1 if there are fewer.
int read_digits(std::string_view text, size_t at, size_t digits) {
  if (at + digits > text.size()) return -1;
  int value = 0;
  for (size_t i = at; i < at + digits; ++i) {
    if (text[i] < '0' || text[i] > '9') return -1;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

bool has(std::string_view text, size_t at, std::string_view allowed) {
  return at < text.size() && allowed.find(text[at]) != std::string_view::npos;
}

// Reads the fraction of the seconds, truncated to microseconds, and moves `at` behind it.
std::optional<int64_t> read_fraction(std::string_view text, size_t& at) {
  if (!has(text, at, ".")) return 0;
  int64_t micros = 0, unit = 100'000;
  const size_t first = ++at;
  for (; has(text, at, "0123456789"); ++at, unit /= 10) micros += unit * (text[at] - '0');
  if (at == first) return std::nullopt;
  return micros;
}

std::optional<std::chrono::minutes> read_offset(std::string_view text, size_t at) {
  if (has(text, at, "Zz") && at + 1 == text.size()) return std::chrono::minutes(0);
  const int hours = read_digits(text, at + 1, 2), minutes = read_digits(text, at + 4, 2);
  if (!has(text, at, "+-") || !has(text, at + 3, ":") || at + 6 != text.size()) return std::nullopt;
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return std::nullopt;
  return std::chrono::minutes((hours * 60 + minutes) * (text[at] == '-' ? -1 : 1));
}

}  // namespace

std::string to_rfc3339(Time time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  std::array<char, 64> buffer;
  int length = std::snprintf(
      buffer.data(), buffer.size(), "%04d-%02u-%02uT%02ld:%02ld:%02ld",
      static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
      static_cast<unsigned>(date.day()), static_cast<long>(clock.hours().count()),
      static_cast<long>(clock.minutes().count()), static_cast<long>(clock.seconds().count()));
  std::string text(buffer.data(), static_cast<size_t>(length));
  if (const auto micros = clock.subseconds().count(); micros != 0) {
    length = std::snprintf(buffer.data(), buffer.size(), ".%06ld", static_cast<long>(micros));
    text.append(buffer.data(), static_cast<size_t>(length));
  }
  return text + "Z";
}

std::optional<std::string> optional_rfc3339(const std::optional<Time>& time) {
  return time ? std::optional(to_rfc3339(*time)) : std::nullopt;
}

std::optional<Time> from_rfc3339(std::string_view text) {
  const int year = read_digits(text, 0, 4), month = read_digits(text, 5, 2),
            day = read_digits(text, 8, 2), hour = read_digits(text, 11, 2),
            minute = read_digits(text, 14, 2), second = read_digits(text, 17, 2);
  const bool shaped = has(text, 4, "-") && has(text, 7, "-") && has(text, 10, "Tt ") &&
                      has(text, 13, ":") && has(text, 16, ":");
  if (!shaped || year < 0 || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 ||
      second > 60)
    return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (month < 1 || day < 1 || !date.ok()) return std::nullopt;
  size_t at = 19;
  const auto micros = read_fraction(text, at);
  const auto offset = read_offset(text, at);
  if (!micros || !offset) return std::nullopt;
  const Time time = Time(std::chrono::sys_days(date)) + std::chrono::hours(hour) +
                    std::chrono::minutes(minute) + std::chrono::seconds(second) +
                    std::chrono::microseconds(*micros) - *offset;
  // Leap seconds end a day in UTC.
  if (second == 60 && time - std::chrono::floor<std::chrono::days>(time) >= std::chrono::seconds(1))
    return std::nullopt;
  return time < kEarliest || time >= kEnd ? std::nullopt : std::optional(time);
}

Time UptimeClock::now() const {
  timespec up{};
  clock_gettime(CLOCK_BOOTTIME, &up);
  return Time(std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::seconds(up.tv_sec) + std::chrono::nanoseconds(up.tv_nsec)));
}

}  // namespace sandgate
