#pragma once
#include <functional>
#include <string>

#include "gateway/core/async.hpp"

namespace sandgate {

// Runs `loop` for the life of the executor, in the background. Restarts the loop a second after it
// returns or fails. Failures are logged, except Error(unavailable).
void keep_running(asio::any_io_executor executor, std::string name,
                  std::function<Task<void>()> loop);

// Calls `step` at once and then `period` after each return. Logs failures likewise.
void repeat(asio::any_io_executor executor, std::string name, std::chrono::milliseconds period,
            std::function<Task<void>()> step);

// Runs cleanup in batches: every `period`, calls `step` with short pauses until it returns 0, the
// number of items it removed.
void repeat_until_none(asio::any_io_executor executor, std::string name,
                       std::chrono::milliseconds period, std::function<Task<size_t>()> step);

}  // namespace sandgate
