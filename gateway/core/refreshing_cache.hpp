#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "gateway/core/async.hpp"
#include "gateway/core/bounded_map.hpp"
#include "gateway/core/one_shot_event.hpp"

namespace sandgate {

// A thread-safe bounded cache of values loaded from the database, with refresh-ahead.
//
//   age < soft          served from memory
//   soft <= age < hard  served from memory while one background load renews the value
//   hard <= age         one load, shared by all callers that wait for the key
//
// If a load fails with unavailable, the old value is served until `outage` after its last
// successful load, with one retry per `pause_after_failure`. Other failures go to the caller.
// Absence is cached too. expire() and expire_all() make entries as old as `hard`, even if a load is
// in progress; an entry named by expire() is not served during an outage either. At most
// `max_first_loads` keys without a cached value are loaded at once; further ones get
// Error(unavailable), so that a flood of unknown keys cannot overload the database.
template <class Value>
class RefreshingCache {
 public:
  struct Options {
    size_t capacity = 10'000;
    std::chrono::milliseconds soft{500}, hard{1000}, outage{60'000};
    std::chrono::milliseconds pause_after_failure{1000};
    size_t max_first_loads = 64;
  };
  using Shared = std::shared_ptr<const Value>;
  using Load = std::function<Task<std::optional<Value>>(std::string key)>;

  RefreshingCache(Options options, Load load)
      : options_(options), load_(std::move(load)), entries_(options.capacity) {}

  // Returns the value if it is cached and younger than `soft`, without a coroutine, for hot paths.
  // An engaged null means that the key is known to have no value.
  std::optional<Shared> peek(std::string_view key) {
    const auto found = entries_.find(key);
    if (!found) return std::nullopt;
    Entry& entry = **found;
    const auto value = known_of(entry);
    if (!value || age(*value) >= options_.soft || stale(entry, *value)) return std::nullopt;
    return value->shared;
  }

  // Returns the last loaded value of any age; null if the key has no value or is not cached.
  Shared last_known(std::string_view key) {
    const auto found = entries_.find(key);
    const auto known = found ? known_of(**found) : nullptr;
    return known ? known->shared : nullptr;
  }

  // Returns null if the key has no value.
  Task<Shared> get(std::string key) {
    if (auto young = peek(key)) co_return std::move(*young);
    const std::shared_ptr<Entry> entry = entries_.with(
        key, [] { return std::make_shared<Entry>(); }, [](auto& there) { return there; });
    const auto known = known_of(*entry);
    const asio::any_io_executor executor = co_await asio::this_coro::executor;
    if (known && !stale(*entry, *known) && age(*known) < options_.hard) {
      load_once(std::move(key), entry, executor);
      co_return known->shared;
    }
    const bool failed_lately = Steady::now() - failed_at(*entry) < options_.pause_after_failure;
    if (known && failed_lately && outlasts_outage(*entry, *known)) co_return known->shared;
    auto loading = load_once(key, entry, executor);
    co_await loading->done.wait();
    // This load may have begun before the key expired. A second one begins after this call.
    if (!loading->failure && stale(*entry, *known_of(*entry))) {
      loading = load_once(std::move(key), entry, executor);
      co_await loading->done.wait();
    }
    if (!loading->failure) co_return known_of(*entry)->shared;
    if (known && loading->failure->code == ErrorCode::unavailable &&
        outlasts_outage(*entry, *known))
      co_return known->shared;
    throw *loading->failure;
  }

  void expire(std::string_view key) {
    if (const auto found = entries_.find(key)) ++(*found)->expired;
  }
  void expire_all() { ++all_expired_; }

 private:
  using Steady = std::chrono::steady_clock;

  struct Known {
    Shared shared;
    Steady::time_point loaded_at;
    uint64_t expired = 0, all_expired = 0;  // values of the counters when its load began
  };
  struct Loading {
    OneShotEvent done;
    std::optional<Error> failure;  // written before `done` is set
  };
  struct Entry {
    std::atomic<uint64_t> expired{0};
    std::atomic<Steady::rep> failed_at{0};  // when a load last ended in unavailable
    std::mutex mutex;  // guards the two members below
    std::shared_ptr<const Known> known;  // null: never loaded successfully
    std::shared_ptr<Loading> loading;  // null: no load in progress
  };

  static std::shared_ptr<const Known> known_of(Entry& entry) {
    std::lock_guard lock(entry.mutex);
    return entry.known;
  }
  static Steady::duration age(const Known& known) { return Steady::now() - known.loaded_at; }
  static Steady::time_point failed_at(const Entry& entry) {
    return Steady::time_point(Steady::duration(entry.failed_at));
  }

  bool stale(const Entry& entry, const Known& known) const {
    return known.expired != entry.expired || known.all_expired != all_expired_;
  }
  // A value known to have changed is not served, even during an outage.
  bool outlasts_outage(const Entry& entry, const Known& known) const {
    return known.expired == entry.expired && age(known) < options_.outage;
  }

  // Joins the load in progress or starts one on `executor`. The load outlives its caller.
  std::shared_ptr<Loading> load_once(std::string key, std::shared_ptr<Entry> entry,
                                     const asio::any_io_executor& executor) {
    std::shared_ptr<Loading> loading;
    bool first = false;
    {
      std::lock_guard lock(entry->mutex);
      first = !entry->known;
      if (entry->loading) return entry->loading;
      if (first && first_loads_ >= options_.max_first_loads)
        throw Error(ErrorCode::unavailable, "too many unknown keys at once");
      loading = entry->loading = std::make_shared<Loading>();
    }
    if (first) ++first_loads_;
    auto work = [this, key = std::move(key), entry = std::move(entry), loading,
                 first]() -> Task<void> {
      auto task = load(key, entry, loading);
      co_await std::move(task);
      if (first) --first_loads_;
      {
        std::lock_guard lock(entry->mutex);
        entry->loading = nullptr;
      }
      loading->done.set();
    };
    spawn_detached(executor, std::move(work));
    return loading;
  }

  // Never throws; stores the failure in `loading`.
  Task<void> load(std::string key, std::shared_ptr<Entry> entry, std::shared_ptr<Loading> loading) {
    Known known{.loaded_at = Steady::now(), .expired = entry->expired, .all_expired = all_expired_};
    try {
      auto task = load_(std::move(key));
      auto value = co_await std::move(task);
      if (value) known.shared = std::make_shared<const Value>(std::move(*value));
      auto kept = std::make_shared<const Known>(std::move(known));
      std::lock_guard lock(entry->mutex);
      entry->known = std::move(kept);
    } catch (const Error& error) {
      if (error.code == ErrorCode::unavailable)
        entry->failed_at = Steady::now().time_since_epoch().count();
      loading->failure = error;
    } catch (const std::exception& failure) {
      loading->failure = Error(ErrorCode::internal, "a lookup failed");
    }
  }

  Options options_;
  Load load_;
  BoundedMap<std::shared_ptr<Entry>> entries_;
  std::atomic<uint64_t> all_expired_{0};
  std::atomic<size_t> first_loads_{0};
};

}  // namespace sandgate
