#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace sandgate {

// A time in microseconds, PostgreSQL's resolution: storing it in the database loses nothing.
using Time = std::chrono::sys_time<std::chrono::microseconds>;

// Formats as RFC 3339 in UTC: "2026-11-20T08:09:10Z", with a fraction only if it is not zero.
std::string to_rfc3339(Time time);
std::optional<std::string> optional_rfc3339(const std::optional<Time>& time);
// Accepts any offset. Empty if the text is not a time, or if that lies before the second day of
// year 1 or after year 9999 in UTC.
std::optional<Time> from_rfc3339(std::string_view text);

// Convert from and to PostgreSQL's extract(epoch), in microseconds.
inline Time from_micros(int64_t micros) { return Time(std::chrono::microseconds(micros)); }
inline int64_t to_micros(Time time) { return time.time_since_epoch().count(); }

// A replaceable source of time.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time now() const = 0;
};

class SystemClock : public Clock {
 public:
  Time now() const override {
    return std::chrono::time_point_cast<std::chrono::microseconds>(
        std::chrono::system_clock::now());
  }
};

// The time since the machine started, asleep or not, as a Time after the epoch. The same for all
// processes; steps of the system clock do not affect it.
class UptimeClock : public Clock {
 public:
  Time now() const override;
};

}  // namespace sandgate
