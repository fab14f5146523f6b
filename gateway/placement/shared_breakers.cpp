#include "gateway/placement/shared_breakers.hpp"

#include "gateway/core/log.hpp"
#include "gateway/core/settle.hpp"

namespace sandgate {
namespace {

constexpr const char* kBreakersChannel = "breakers";

// A late verdict may be older than the stored one.
constexpr char kPublishBreaker[] = R"sql(
  INSERT INTO deployment_breaker AS known (deployment, state, open_until, cooldown_seconds,
    decided_at)
  VALUES ($1, $2, $3::timestamptz, $4, $5::timestamptz)
  ON CONFLICT (deployment) DO UPDATE SET state = excluded.state, open_until = excluded.open_until,
    cooldown_seconds = excluded.cooldown_seconds, decided_at = excluded.decided_at
  WHERE known.decided_at < excluded.decided_at)sql";

// An absent row means a closed breaker.
constexpr char kForgetBreakers[] =
    "DELETE FROM deployment_breaker WHERE greatest(open_until, decided_at) < now() - interval '1 "
    "day'";

constexpr char kReadBreakers[] =
    "SELECT deployment, state, (extract(epoch FROM open_until) * 1000000)::bigint,"
    " cooldown_seconds, (extract(epoch FROM decided_at) * 1000000)::bigint FROM deployment_breaker";

}  // namespace

bool SharedBreakers::is_shared(const DeploymentKey& deployment) const {
  const DeploymentPtr found = find_deployment(*deployments_.snapshot(), deployment);
  return found && found->descriptor.machine.empty();
}

Task<void> SharedBreakers::publish(DeploymentKey deployment, Verdict verdict) {
  if (!is_shared(deployment)) co_return;
  const std::string key = deployment.text();
  auto write = [key, verdict](pqxx::work& tx) {
    tx.exec_params(kPublishBreaker, key, std::string(to_string(verdict.breaker)),
                   to_rfc3339(verdict.open_until), verdict.cooldown.count(),
                   to_rfc3339(verdict.at));
    tx.exec(kForgetBreakers);
    notify(tx, kBreakersChannel, key);
  };
  const auto outcome = co_await attempt(database_.run(std::move(write)));
  if (const auto* error = std::get_if<Error>(&outcome))
    log::warn("the other gateways were not told of a breaker",
              {{"deployment", key}, {"reason", error->what()}});
}

Task<void> SharedBreakers::read() {
  const auto rows = co_await database_.run([](pqxx::work& tx) { return tx.exec(kReadBreakers); });
  for (const auto& row : rows) {
    const bool open = row[1].as<std::string>() == to_string(Breaker::open);
    board_.adopt(DeploymentKey::from(row[0].as<std::string>()),
                 {.breaker = open ? Breaker::open : Breaker::closed,
                  .open_until = from_micros(row[2].as<int64_t>()),
                  .cooldown = std::chrono::seconds(row[3].as<int64_t>()),
                  .at = from_micros(row[4].as<int64_t>())});
  }
}

void SharedBreakers::subscribe(Notifications& notifications, asio::any_io_executor executor) {
  notifications.subscribe(kBreakersChannel, [this, executor](const std::string&) {
    spawn_detached(executor, [this]() -> Task<void> { co_await attempt(read()); });
  });
}

}  // namespace sandgate
