#pragma once
#include <chrono>
#include <utility>

#include "providers/retries.hpp"

namespace sandgate {

// How long a vendor's answers may lag behind a create that it accepted.
inline constexpr std::chrono::seconds kNewcomerLag{3};
// Before the first question about a sandbox that was missing.
inline constexpr std::chrono::milliseconds kNewcomerLook{100};

// As retry_until_answered(), for a question whose answer is empty while the vendor does not know
// the sandbox that it accepted. Returns that answer only if it stays so for kNewcomerLag.
template <class Ask>
auto retry_until_known(Ask ask) -> std::invoke_result_t<Ask> {
  const auto limit = std::chrono::steady_clock::now() + kNewcomerLag;
  for (Backoff pause(kNewcomerLook);;) {
    auto asking = retry_until_answered(ask);
    auto known = co_await std::move(asking);
    if (known || std::chrono::steady_clock::now() >= limit) co_return known;
    co_await pause.wait();
  }
}

}  // namespace sandgate
