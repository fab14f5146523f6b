#pragma once
#include <chrono>

namespace sandgate::agent {

// Whether `file` becomes readable, or its other end closes, within `limit`. Of a time in which
// this process is frozen, as while its sandbox is paused, at most a tenth of a second counts.
bool is_readable_within(int file, std::chrono::milliseconds limit);

}  // namespace sandgate::agent
