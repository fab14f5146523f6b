#include "gateway/compat/mcp/running_calls.hpp"

#include "gateway/core/settle.hpp"

namespace sandgate::compat::mcp {
namespace {

constexpr const char* kCancelled = "mcp_cancelled";

// Also the payload of a notification. The id as JSON, because 1 and "1" are two ids.
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
  if (cancel_here(name)) co_return;
  auto tell = [name = std::move(name)](pqxx::work& tx) {
    tx.exec_params("SELECT pg_notify($1, $2)", kCancelled, name);
  };
  co_await database_.run(std::move(tell));
}

bool RunningCalls::cancel_here(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto [begin, end] = running_.equal_range(name);
  for (auto at = begin; at != end; ++at) at->second->set();
  return begin != end;
}

}  // namespace sandgate::compat::mcp
