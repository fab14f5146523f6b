#include "gateway/http/database_idempotency.hpp"

#include "gateway/core/log.hpp"
#include "gateway/core/random.hpp"

namespace sandgate::http {
namespace {

constexpr std::chrono::milliseconds kFirstPause{20};
constexpr std::chrono::milliseconds kLongestPause{500};
constexpr std::string_view kNotKept = "the first answer to this key could not be kept";

// Shared with pool threads, which may outlive the calling coroutine.
struct Run {
  IdempotentCall call;
  std::string owner;
  DatabaseIdempotency::Options options;
};
using SharedRun = std::shared_ptr<const Run>;

// Binds a sealed answer to its row.
std::string seal_context(const IdempotentCall& call) {
  return "idempotency/" + call.scope + "/" + call.operation + "/" + call.key;
}

// Returns the body to store; empty if it is too large, or secret while there is no cipher.
std::optional<std::string> body_to_keep(const Run& run, const std::string& body) {
  if (body.size() > run.options.max_body_bytes) return std::nullopt;
  if (!run.call.sealed) return body;
  if (!run.options.cipher) return std::nullopt;
  return base64_encode(run.options.cipher->seal(Secret(body), seal_context(run.call)));
}

std::string body_kept(const Run& run, const std::string& kept) {
  if (!run.call.sealed) return kept;
  const auto bytes = base64_decode(kept);
  if (!bytes || !run.options.cipher)
    throw Error(ErrorCode::internal, "a kept answer cannot be opened");
  return run.options.cipher->open(*bytes, seal_context(run.call)).reveal();
}

struct Look {
  enum { claimed, answered, running } state = running;
  StoredAnswer answer;
  std::string effect;
};

Look read_row(pqxx::work& tx, const Run& run) {
  const auto rows = tx.exec_params(
      "SELECT state, body_hash, status, content_type, body, coalesce(effect, '') AS effect, "
      "lease_until <= now() AS lapsed "
      "FROM idempotent_call WHERE scope = $1 AND operation = $2 AND key = $3 FOR UPDATE",
      run.call.scope, run.call.operation, run.call.key);
  // The claim was released meanwhile; the next attempt can take it.
  if (rows.empty()) return {};
  const auto& row = rows[0];
  if (row["body_hash"].as<std::string>() != run.call.body_hash)
    throw Error(
        ErrorCode::conflict,
        "this Idempotency-Key was used with another request; to be the same, its body has to be so "
        "byte for byte");
  if (row["state"].as<std::string>() == "done") {
    if (row["body"].is_null()) throw Error(ErrorCode::conflict, std::string(kNotKept));
    return {Look::answered,
            {row["status"].as<int>(), row["content_type"].as<std::string>(),
             body_kept(run, row["body"].as<std::string>())},
            ""};
  }
  if (!row["lapsed"].as<bool>()) return {};
  tx.exec_params(
      "UPDATE idempotent_call SET owner = $4, lease_until = now() + $5 * interval '1 ms' "
      "WHERE scope = $1 AND operation = $2 AND key = $3",
      run.call.scope, run.call.operation, run.call.key, run.owner, run.options.lease.count());
  return {Look::claimed, {}, row["effect"].as<std::string>()};
}

Look look(pqxx::work& tx, const Run& run) {
  const auto inserted = tx.exec_params(
      "INSERT INTO idempotent_call (scope, operation, key, body_hash, state, owner, lease_until) "
      "VALUES ($1, $2, $3, $4, 'running', $5, now() + $6 * interval '1 ms') "
      "ON CONFLICT DO NOTHING",
      run.call.scope, run.call.operation, run.call.key, run.call.body_hash, run.owner,
      run.options.lease.count());
  if (inserted.affected_rows() == 1) return {Look::claimed, {}, ""};
  return read_row(tx, run);
}

void renew(pqxx::work& tx, const Run& run) {
  tx.exec_params(
      "UPDATE idempotent_call SET lease_until = now() + $5 * interval '1 ms' "
      "WHERE scope = $1 AND operation = $2 AND key = $3 AND owner = $4 AND state = 'running'",
      run.call.scope, run.call.operation, run.call.key, run.owner, run.options.lease.count());
}

// Leaves a row with a recorded effect to the next run, which learns of the effect. False: the row
// has none.
bool leave_effect(pqxx::work& tx, const Run& run) {
  const auto left = tx.exec_params(
      "UPDATE idempotent_call SET lease_until = now(), created_at = now() "
      "WHERE scope = $1 AND operation = $2 AND key = $3 AND owner = $4 AND effect IS NOT NULL",
      run.call.scope, run.call.operation, run.call.key, run.owner);
  return left.affected_rows() > 0;
}

void remove(pqxx::work& tx, const Run& run) {
  if (leave_effect(tx, run)) return;
  tx.exec_params(
      "DELETE FROM idempotent_call "
      "WHERE scope = $1 AND operation = $2 AND key = $3 AND owner = $4 AND state = 'running' "
      "AND effect IS NULL",
      run.call.scope, run.call.operation, run.call.key, run.owner);
}

// The age of an answer counts from now: the call may have begun long before, in another run.
void store(pqxx::work& tx, const Run& run, const StoredAnswer& answer) {
  const auto kept = body_to_keep(run, answer.body);
  // Whoever repeats the call then learns what it made.
  if (!kept && leave_effect(tx, run)) return;
  tx.exec_params(
      "UPDATE idempotent_call SET state = 'done', status = $5, content_type = $6, body = $7, "
      "created_at = now() "
      "WHERE scope = $1 AND operation = $2 AND key = $3 AND owner = $4",
      run.call.scope, run.call.operation, run.call.key, run.owner, answer.status,
      answer.content_type, kept);
}

// Stops the coroutine that renews the lease.
struct Heartbeat {
  explicit Heartbeat(asio::any_io_executor executor) : timer(std::move(executor)) {}
  void stop() {
    stopped = true;
    timer.cancel();
  }
  asio::steady_timer timer;
  bool stopped = false;
};

Task<void> beat(Database& database, SharedRun run, std::shared_ptr<Heartbeat> heartbeat) {
  while (!heartbeat->stopped) {
    heartbeat->timer.expires_after(run->options.lease / 3);
    co_await heartbeat->timer.async_wait(asio::as_tuple(asio::use_awaitable));
    if (heartbeat->stopped) co_return;
    auto renewal = attempt(database.run([run](pqxx::work& tx) { renew(tx, *run); }));
    // After a failed renewal there are two more attempts before the lease ends.
    (void)co_await std::move(renewal);
  }
}

class DatabaseClaim final : public IdempotencyStore::Claim {
 public:
  DatabaseClaim(Database& database, SharedRun run, asio::any_io_executor executor)
      : database_(database),
        run_(std::move(run)),
        executor_(std::move(executor)),
        heartbeat_(std::make_shared<Heartbeat>(executor_)) {
    spawn_detached(executor_, [&database = database_, run = run_, heartbeat = heartbeat_] {
      return beat(database, run, heartbeat);
    });
  }
  ~DatabaseClaim() override { heartbeat_->stop(); }

  std::string id() const override { return run_->owner; }

  // Retries while the database is unavailable: a late answer is better than one that cannot be
  // replayed.
  Task<void> settle(StoredAnswer answer) override {
    const auto until = std::chrono::steady_clock::now() + run_->options.settle_timeout;
    const auto keep = [run = run_, answer](pqxx::work& tx) { store(tx, *run, answer); };
    for (auto pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
      auto storing = database_.run(keep);
      const auto outcome = co_await attempt(std::move(storing));
      const auto* error = std::get_if<Error>(&outcome);
      if (!error) break;
      const bool late = std::chrono::steady_clock::now() + pause > until;
      if (error->code != ErrorCode::unavailable || late) throw *error;
      co_await sleep_for(pause);
    }
    heartbeat_->stop();
  }

  void release() override {
    heartbeat_->stop();
    spawn_detached(executor_,
                   [&database = database_, run = run_] { return forget(database, run); });
  }

 private:
  static Task<void> forget(Database& database, SharedRun run) {
    auto removal = attempt(database.run([run](pqxx::work& tx) { remove(tx, *run); }));
    const auto outcome = co_await std::move(removal);
    if (const auto* error = std::get_if<Error>(&outcome))
      log::warn("idempotency key stays taken until its lease ends", {{"reason", error->what()}});
  }

  Database& database_;
  SharedRun run_;
  asio::any_io_executor executor_;
  std::shared_ptr<Heartbeat> heartbeat_;
};

}  // namespace

Task<IdempotencyStore::Start> DatabaseIdempotency::start(IdempotentCall call) {
  const auto run = std::make_shared<const Run>(Run{std::move(call), random_hex(16), options_});
  const auto until = std::chrono::steady_clock::now() + options_.patience;
  for (auto pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    auto looking = database_.run([run](pqxx::work& tx) { return look(tx, *run); });
    Look seen = co_await std::move(looking);
    Start start;
    start.answer = std::move(seen.answer);
    start.earlier = std::move(seen.effect);
    if (seen.state == Look::claimed)
      start.claim =
          std::make_unique<DatabaseClaim>(database_, run, co_await asio::this_coro::executor);
    if (seen.state != Look::running) co_return start;
    if (std::chrono::steady_clock::now() + pause > until) break;
    co_await sleep_for(pause);
  }
  Error error(ErrorCode::conflict, "the first request with this Idempotency-Key is still running");
  error.retry_after = std::chrono::seconds(1);
  throw error;
}

Task<size_t> DatabaseIdempotency::purge(std::chrono::hours age) {
  auto purging = database_.run([age](pqxx::work& tx) -> size_t {
    return tx
        .exec_params(
            "DELETE FROM idempotent_call WHERE ctid IN (SELECT ctid FROM idempotent_call "
            "WHERE created_at < now() - $1 * interval '1 hour' LIMIT 5000)",
            static_cast<int64_t>(age.count()))
        .affected_rows();
  });
  co_return co_await std::move(purging);
}

}  // namespace sandgate::http
