#pragma once
#include <functional>

#include "gateway/core/async.hpp"

namespace sandgate {

// Returns a function that runs work on the pool in the background. What the work throws is logged
// and otherwise ignored. The pool outlives the function.
std::function<void(std::function<void()>)> background_runner(asio::thread_pool& pool);

}  // namespace sandgate
