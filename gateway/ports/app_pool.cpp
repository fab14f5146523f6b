#include "gateway/ports/app_pool.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "gateway/core/tls_key_exchange.hpp"

namespace sandgate::ports {
namespace {

using Steady = std::chrono::steady_clock;

constexpr size_t kMaxWaiting = 1024;

}  // namespace

AppPool::AppPool(size_t max_waiting) : max_waiting_(max_waiting) {
  tls_.set_default_verify_paths();
  use_short_key_exchanges(tls_.native_handle());
}

size_t AppPool::usual_max_waiting() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return kMaxWaiting;
  return std::min<size_t>(kMaxWaiting, files.rlim_cur / 8);
}

std::unique_ptr<AppPool::Slot> AppPool::acquire(std::string key) {
  {
    std::lock_guard lock(mutex_);
    Port& port = ports_[key];
    if (port.busy >= kMaxBusy)
      throw Error(ErrorCode::unavailable, "too many requests to this port are under way");
    ++port.busy;
  }
  return std::make_unique<Slot>(*this, std::move(key));
}

void AppPool::release(const std::string& key) {
  std::lock_guard lock(mutex_);
  const auto found = ports_.find(key);
  if (found == ports_.end()) return;
  if (--found->second.busy == 0 && found->second.idle.empty()) ports_.erase(found);
}

std::unique_ptr<AppConnection> AppPool::take(const std::string& key,
                                             const asio::any_io_executor& executor,
                                             std::chrono::milliseconds age) {
  const auto oldest = Steady::now() - age;
  for (;;) {
    std::unique_ptr<AppConnection> found;
    {
      std::lock_guard lock(mutex_);
      const auto port = ports_.find(key);
      if (port == ports_.end()) return nullptr;
      Connections& idle = port->second.idle;
      for (size_t i = idle.size(); i-- > 0 && !found;) {
        if (idle[i]->idle_since < oldest) break;
        if (idle[i]->executor() != executor) continue;
        found = std::move(idle[i]);
        idle.erase(idle.begin() + static_cast<std::ptrdiff_t>(i));
        --waiting_;
      }
    }
    if (!found || !found->stale()) return found;
  }
}

size_t AppPool::waiting_for_sandbox_of(const std::string& key) const {
  const std::string prefix = key.substr(0, key.rfind(':') + 1);
  size_t count = 0;
  for (auto at = ports_.lower_bound(prefix); at != ports_.end() && at->first.starts_with(prefix);
       ++at)
    count += at->second.idle.size();
  return count;
}

void AppPool::put(std::unique_ptr<AppConnection> connection) {
  connection->idle_since = Steady::now();
  std::lock_guard lock(mutex_);
  Connections& idle = ports_[connection->key()].idle;
  if (idle.size() >= kMaxIdle) return;
  if (waiting_for_sandbox_of(connection->key()) + waiting_ >= max_waiting_) return;
  idle.push_back(std::move(connection));
  ++waiting_;
}

template <class Goes>
void AppPool::remove(const std::string& prefix, Goes goes) {
  Connections gone;
  {
    std::lock_guard lock(mutex_);
    for (auto at = ports_.lower_bound(prefix);
         at != ports_.end() && at->first.starts_with(prefix);) {
      Connections& idle = at->second.idle;
      const auto kept = std::stable_partition(
          idle.begin(), idle.end(), [&](const auto& connection) { return !goes(*connection); });
      std::move(kept, idle.end(), std::back_inserter(gone));
      waiting_ -= static_cast<size_t>(idle.end() - kept);
      idle.erase(kept, idle.end());
      at = idle.empty() && at->second.busy == 0 ? ports_.erase(at) : std::next(at);
    }
  }
  destroy(std::move(gone));
}

void AppPool::destroy(Connections connections) {
  for (auto& connection : connections) {
    const auto executor = connection->executor();
    asio::post(executor, [connection = std::move(connection)] {});
  }
}

void AppPool::drop(const std::string& sandbox) {
  remove(sandbox, [](const AppConnection&) { return true; });
}

void AppPool::sweep() {
  const auto oldest = Steady::now() - kMaxAge;
  remove("", [&](const AppConnection& connection) {
    return connection.idle_since < oldest || connection.stale();
  });
}

Task<void> AppPool::run() {
  for (;;) {
    co_await sleep_for(std::chrono::seconds(1));
    sweep();
  }
}

size_t AppPool::waiting() const {
  std::lock_guard lock(mutex_);
  return waiting_;
}

}  // namespace sandgate::ports
