#pragma once
#include <chrono>
#include <thread>

namespace sandgate::test {

// Waits for what another thread or process does; false when it did not happen in time.
template <class F>
bool eventually(F holds, std::chrono::milliseconds patience = std::chrono::seconds(10)) {
  const auto limit = std::chrono::steady_clock::now() + patience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > limit) return holds();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace sandgate::test
