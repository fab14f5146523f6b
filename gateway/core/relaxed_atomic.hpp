#pragma once
#include <atomic>

namespace sandgate {

// A setting that can change while other threads read it. Readers see the old or the new value;
// relaxed ordering, so it must not publish other data. A copy holds the value at the time of
// copying.
template <class T>
class RelaxedAtomic {
 public:
  RelaxedAtomic(T value) : value_(value) {}
  RelaxedAtomic(const RelaxedAtomic& other) : value_(other.get()) {}
  RelaxedAtomic& operator=(const RelaxedAtomic& other) { return *this = other.get(); }
  RelaxedAtomic& operator=(T value) {
    value_.store(value, std::memory_order_relaxed);
    return *this;
  }
  operator T() const { return get(); }
  T get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<T> value_;
};

}  // namespace sandgate
