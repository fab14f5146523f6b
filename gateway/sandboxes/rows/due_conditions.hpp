#pragma once
#include <string>

// SQL conditions on rows of `sandbox` that are due for the reaper, for the statements of this
// folder.
namespace sandgate::sandbox_rows::due_conditions {

// The current time, moved ahead by $1 milliseconds.
inline const std::string kNow = "now() + make_interval(secs => $1 / 1000.0)";
inline const std::string kIdleSince =
    "last_active_at + make_interval(secs => idle_timeout_seconds)";
// The extra second lets Activity write all use before the timeout.
inline const std::string kIdle =
    "idle_timeout_seconds > 0 AND " + kIdleSince + " + interval '1 second' <= " + kNow;
inline const std::string kPausedIdle = "on_idle = 'pause' AND " + kIdle;
inline const std::string kKilledIdle = "on_idle = 'kill' AND " + kIdle;

}  // namespace sandgate::sandbox_rows::due_conditions
