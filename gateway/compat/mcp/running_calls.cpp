#include "gateway/compat/mcp/running_calls.hpp"

#include "gateway/core/settle.hpp"

namespace sandgate::compat::mcp {
namespace {

constexpr const char* kCancelled = "mcp_cancelled";

// Also the payload of a notification. The id as JSON, because 1 and "1" are two ids. A session
// alone stands for all its calls.
std::string name_of(const SessionId& session, const Json& id) {
  return session.value + " " + id.dump();
}

}  // namespace

// Keeps a call among the running ones.
class RunningCalls::Entry {
 public:
  Entry(RunningCalls& all, std::string name, asio::any_io_executor executor)
      : all_(all), cancelled_(std::move(executor)) {
    const std::lock_guard lock(all_.mutex_);
    place_ = all_.running_.emplace(std::move(name), &cancelled_);
  }
  ~Entry() {
    const std::lock_guard lock(all_.mutex_);
    all_.running_.erase(place_);
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  Task<void> cancelled() { return cancelled_.wait(); }

 private:
  RunningCalls& all_;
  AutoResetEvent cancelled_;
  std::multimap<std::string, AutoResetEvent*>::iterator place_;
};

RunningCalls::RunningCalls(Database& database, Notifications& notifications) : database_(database) {
  notifications.subscribe(kCancelled, [this](const std::string& name) { cancel_here(name); });
}

Task<std::optional<Json>> RunningCalls::run(SessionId session, Json id, Task<Json> call) {
  Entry entry(*this, name_of(session, id), co_await asio::this_coro::executor);
  Settled<Json> settled;
  auto race = ends_before(settle(std::move(call), settled), entry.cancelled());
  const bool ended = co_await std::move(race);
  if (!ended) co_return std::nullopt;
  co_return settled.take();
}

Task<void> RunningCalls::cancel(SessionId session, Json id) {
  std::string name = name_of(session, id);
  if (!cancel_here(name)) co_await tell_others(std::move(name));
}

Task<void> RunningCalls::cancel_all(SessionId session) {
  cancel_here(session.value);
  return tell_others(std::move(session.value));
}

Task<void> RunningCalls::tell_others(std::string name) {
  auto tell = [name = std::move(name)](pqxx::work& tx) { notify(tx, kCancelled, name); };
  co_await database_.run(std::move(tell));
}

bool RunningCalls::cancel_here(const std::string& name) {
  const bool all = name.find(' ') == std::string::npos;
  const std::string prefix = name + " ";
  const auto is_meant = [&](const std::string& one) {
    return all ? one.starts_with(prefix) : one == name;
  };
  const std::lock_guard lock(mutex_);
  const auto begin = running_.lower_bound(all ? prefix : name);
  auto at = begin;
  for (; at != running_.end() && is_meant(at->first); ++at) at->second->set();
  return at != begin;
}

}  // namespace sandgate::compat::mcp
