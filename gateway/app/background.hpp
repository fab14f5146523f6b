#pragma once
#include <functional>
#include <string>

#include "gateway/core/async.hpp"

namespace sandgate {

// Runs `loop` for as long as the executor does: one that fails is logged and started again after a
// second. For work that goes on beside requests.
void keep_running(asio::any_io_executor executor, std::string name,
                  std::function<Task<void>()> loop);

// Calls `step` now and then every `period`, failures logged.
void repeat(asio::any_io_executor executor, std::string name, std::chrono::milliseconds period,
            std::function<Task<void>()> step);

// For what is removed some at a time: calls `step` until it has removed none, with short pauses,
// and so again every `period`.
void repeat_until_none(asio::any_io_executor executor, std::string name,
                       std::chrono::milliseconds period, std::function<Task<size_t>()> step);

}  // namespace sandgate
