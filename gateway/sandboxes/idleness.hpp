#pragma once
#include <string>

// When a sandbox counts as idle: conditions in SQL for rows of `sandbox` that are running.
namespace sandgate::idleness {

// The time as tests may shift it; $1: milliseconds it is later.
inline const std::string kNow = "now() + make_interval(secs => $1 / 1000.0)";
inline const std::string kIdleSince =
    "last_active_at + make_interval(secs => idle_timeout_seconds)";
// A second later Activity has written all use before that.
inline const std::string kIdle =
    "idle_timeout_seconds > 0 AND " + kIdleSince + " + interval '1 second' <= " + kNow;
inline const std::string kPausedIdle = "on_idle = 'pause' AND " + kIdle;
inline const std::string kKilledIdle = "on_idle = 'kill' AND " + kIdle;

}  // namespace sandgate::idleness
