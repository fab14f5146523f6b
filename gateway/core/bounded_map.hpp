#pragma once
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace sandgate {

// A thread-safe map from text that forgets what was used least recently once it is full. Split
// into shards by key, so that threads asking for different keys do not wait for each other.
template <class Value>
class BoundedMap {
 public:
  explicit BoundedMap(size_t capacity) : capacity_of_shard_(capacity / kShards + 1) {}

  // Runs `use(Value&)` on the value of a key under its shard's lock, made by `make()` when absent;
  // returns what it returns. `use` must be quick and must not come back here.
  template <class Make, class Use>
  auto with(std::string_view key, Make make, Use use) {
    Shard& shard = shard_of(key);
    std::lock_guard lock(shard.mutex);
    auto found = shard.index.find(key);
    if (found == shard.index.end()) {
      if (shard.items.size() >= capacity_of_shard_) {
        shard.index.erase(shard.items.back().first);
        shard.items.pop_back();
      }
      shard.items.emplace_front(std::string(key), make());
      found = shard.index.emplace(shard.items.front().first, shard.items.begin()).first;
    } else {
      shard.items.splice(shard.items.begin(), shard.items, found->second);
    }
    return use(found->second->second);
  }

  std::optional<Value> find(std::string_view key) {
    Shard& shard = shard_of(key);
    std::lock_guard lock(shard.mutex);
    const auto found = shard.index.find(key);
    if (found == shard.index.end()) return std::nullopt;
    shard.items.splice(shard.items.begin(), shard.items, found->second);
    return found->second->second;
  }

  template <class Use>
  void for_each(Use use) {
    for (Shard& shard : shards_) {
      std::lock_guard lock(shard.mutex);
      for (auto& [key, value] : shard.items) use(value);
    }
  }

  size_t size() {
    size_t sum = 0;
    for (Shard& shard : shards_) {
      std::lock_guard lock(shard.mutex);
      sum += shard.items.size();
    }
    return sum;
  }

 private:
  static constexpr size_t kShards = 16;
  using Items = std::list<std::pair<const std::string, Value>>;

  struct Shard {
    std::mutex mutex;
    Items items;  // most recently used first
    std::unordered_map<std::string_view, typename Items::iterator> index;  // keys live in items
  };

  Shard& shard_of(std::string_view key) {
    return shards_[std::hash<std::string_view>{}(key) % kShards];
  }

  size_t capacity_of_shard_;
  Shard shards_[kShards];
};

}  // namespace sandgate
