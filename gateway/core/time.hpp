#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace sandgate {

// Microseconds, as PostgreSQL keeps them: a time survives the way there and back unchanged.
using Time = std::chrono::sys_time<std::chrono::microseconds>;

// RFC 3339 in UTC: "2026-11-20T08:09:10Z", with a fraction only when there is one.
std::string to_rfc3339(Time time);
// Accepts any offset; empty when the text is not a time, or one before the second day of year 1.
std::optional<Time> from_rfc3339(std::string_view text);

// From and to PostgreSQL's extract(epoch) in microseconds.
inline Time from_micros(int64_t micros) { return Time(std::chrono::microseconds(micros)); }
inline int64_t to_micros(Time time) { return time.time_since_epoch().count(); }

// Where time comes from, so that tests can hold it still.
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

}  // namespace sandgate
