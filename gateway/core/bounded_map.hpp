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

// A thread-safe LRU map with string keys: a full map evicts the least recently used entry. Sharded
// by key to reduce lock contention.
template <class Value>
class BoundedMap {
 public:
  explicit BoundedMap(size_t capacity) : capacity_of_shard_(capacity / kShards + 1) {}

  // Calls `use(Value&)` on the key's value under the shard's lock and returns its result. An absent
  // value is first created by `make()`. `use` must be quick and must not call this map.
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
    std::unordered_map<std::string_view, typename Items::iterator> index;  // keys point into items
  };

  Shard& shard_of(std::string_view key) {
    return shards_[std::hash<std::string_view>{}(key) % kShards];
  }

  size_t capacity_of_shard_;
  Shard shards_[kShards];
};

}  // namespace sandgate
