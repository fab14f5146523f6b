#pragma once
#include <functional>

#include "gateway/core/async.hpp"

namespace sandgate {

// Runs what it is given on the pool, where nobody waits for it: what that throws is logged and ends
// nothing else. The pool outlives it.
std::function<void(std::function<void()>)> errands_on(asio::thread_pool& pool);

}  // namespace sandgate
