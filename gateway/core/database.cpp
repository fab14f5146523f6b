#include "gateway/core/database.hpp"

#include <thread>

#include "gateway/core/conninfo.hpp"
#include "gateway/core/log.hpp"
#include "gateway/core/statement.hpp"

namespace sandgate {
namespace {

constexpr int kAttempts = 8;
constexpr std::chrono::milliseconds kReconnectPause{200};
constexpr int kSilentShare = 10;
constexpr const char* kNoLock = "55P03";
constexpr const char* kNoResources = "53";
constexpr const char* kDiskFull = "53100";
constexpr std::chrono::nanoseconds kTrySpaceEvery = std::chrono::seconds(1);
// The server cancels a statement slightly later than its caller gives up.
constexpr std::chrono::milliseconds kStatementSlack{500};

int64_t steady_ns() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

constexpr std::chrono::seconds kTryAgain{1};  // as during start-up: most outages are short

Error unavailable(const char* what = "the database does not answer") {
  Error error(ErrorCode::unavailable, what);
  error.retry_after = kTryAgain;
  return error;
}

// Nothing was asked of the server yet.
struct CannotConnect : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Each pool thread owns one connection; a thread serves exactly one Database.
std::unique_ptr<pqxx::connection>& connection_of_this_thread() {
  thread_local std::unique_ptr<pqxx::connection> connection;
  return connection;
}

// Whether the server is temporarily unable to serve any query. 57: shutting down, starting or query
// cancelled; 53: out of connections, memory or disk; 58: disk failure; 08: connection failure;
// 25006: read-only, as a standby is; 55P03: lock not obtained in time.
bool is_away(const std::string& state) {
  for (const char* start : {"57", kNoResources, "58", "08", "25006", kNoLock})
    if (state.starts_with(start)) return true;
  return false;
}

std::string timeout(const char* kind, std::chrono::milliseconds patience) {
  return std::string(kind) + "_timeout = " + std::to_string((patience + kStatementSlack).count());
}

// How values are written and read, whatever the server, the database or the role says otherwise.
constexpr const char* kForms =
    "SET timezone = 'UTC'; SET datestyle = 'ISO, MDY'; SET intervalstyle = 'postgres';"
    "SET client_encoding = 'UTF8'; SET bytea_output = 'hex'; SET array_nulls = on;"
    "SET extra_float_digits = 1; SET standard_conforming_strings = on;"
    "SET transform_null_equals = off";

std::unique_ptr<pqxx::connection> connect(const Database::Options& options) {
  auto connection = std::make_unique<pqxx::connection>(conninfo_with_timeouts(options.url));
  forget_prepared();
  pqxx::nontransaction setup(*connection);
  setup.exec("SET " + timeout("statement", options.patience));
  // Otherwise a gateway that is stopped amid a transaction keeps its locks from the others.
  setup.exec("SET " + timeout("idle_in_transaction_session", options.patience));
  setup.exec("SET lock_timeout = " + std::to_string(options.patience.count()));
  setup.exec(kForms);
  setup.exec("SET client_min_messages = warning");
  setup.exec("SET default_transaction_isolation = 'read committed'");
  // Queries are the same each time but for parameters: a plan per execution is wasted work.
  setup.exec("SET plan_cache_mode = force_generic_plan");
  return connection;
}

}  // namespace

Database::Database(Options options)
    : options_(std::move(options)),
      pool_(std::make_unique<Pool>("requests", options_.connections, options_.max_waiting)),
      reports_(std::make_unique<Pool>("reports", options_.report_connections,
                                      options_.max_waiting_reports)) {}

Database::~Database() {
  pool_->threads.join();
  reports_->threads.join();
}

void Database::Pool::tell_unreachable(const std::string& reason) {
  if (const auto left_out = unreachable.met())
    log::warn("database unreachable", {{"reason", reason}, {"for", kind}, {"left_out", *left_out}});
}

void Database::Pool::tell_shortage(const std::string& reason) {
  if (const auto left_out = shortage.met())
    log::warn(
        "the database gives fewer connections than it should",
        {{"reason", reason}, {"for", kind}, {"has", connected.load()}, {"left_out", *left_out}});
}

void Database::Pool::tell_unable(const pqxx::sql_error& failure) {
  std::optional<uint64_t> left_out;
  {
    const std::lock_guard lock(unable_mutex);
    left_out = unable[failure.sqlstate()].met();
  }
  if (left_out)
    log::warn("the database cannot do this now", {{"reason", failure.what()},
                                                  {"sqlstate", failure.sqlstate()},
                                                  {"for", kind},
                                                  {"left_out", *left_out}});
}

void Database::Pool::refuse(const pqxx::sql_error& failure) {
  const std::string state = failure.sqlstate();
  if (is_away(state)) {
    tell_unable(failure);
    // Reconnecting may reach another server. A held lock is held for every connection.
    if (state != kNoLock) connection_of_this_thread().reset();
    if (state.starts_with(kNoResources))
      throw unavailable("the database is out of disk space, memory or connections");
    throw unavailable();
  }
  log::error("database query failed", {{"reason", failure.what()}, {"sqlstate", state}});
  throw Error(ErrorCode::internal, "a database query failed");
}

void Database::Pool::tell_answer() {
  if (const auto lasted = unreachable.over())
    log::info("database reachable again", {{"for", kind}, {"after_ms", lasted->count()}});
}

// State shared with the pool thread, which completes it even if the caller has stopped waiting.
struct Database::PendingCall {
  explicit PendingCall(asio::any_io_executor executor) : timer(executor) {}
  asio::steady_timer timer;  // this and the two below are used on a strand
  std::exception_ptr failure;
  bool done = false;
  std::atomic<bool> abandoned{false};  // read on the pool thread: the caller has gone

  // Marks the call as abandoned when its caller's scope ends for any reason: done, overdue or
  // cancelled.
  struct Caller {
    std::shared_ptr<PendingCall> waiting;
    ~Caller() { waiting->abandoned = true; }
  };

  static Task<bool> end(std::shared_ptr<PendingCall> waiting, std::chrono::milliseconds limit) {
    boost::system::error_code ignored;
    if (waiting->done) co_return true;
    waiting->timer.expires_after(limit);
    co_await waiting->timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    co_return waiting->done;
  }
};

void Database::complete(std::shared_ptr<PendingCall> waiting, std::exception_ptr failure) {
  const auto strand = waiting->timer.get_executor();
  asio::post(strand, [waiting = std::move(waiting), failure = std::move(failure)]() mutable {
    waiting->failure = std::move(failure);
    waiting->done = true;
    waiting->timer.cancel();
  });
}

void Database::Pool::refuse_for_a_while() {
  refused_until_ns = steady_ns() + std::chrono::nanoseconds(kReconnectPause).count();
}

void Database::count_connection(Pool& pool) {
  thread_local bool is_counted = false;
  const bool is_connected = connection_of_this_thread() != nullptr;
  if (is_connected == is_counted) return;
  is_counted = is_connected;
  if (is_connected)
    ++pool.connected;
  else
    --pool.connected;
}

// If the connections of the others are broken, too, the last to notice refuses the job. Without the
// pause this thread, always idle, would take most jobs.
void Database::hand_over(Pool& pool, Job job, std::shared_ptr<PendingCall> waiting) {
  pool.threads.post([this, &pool, waiting = std::move(waiting), job = std::move(job)]() mutable {
    run_job(pool, std::move(job), std::move(waiting));
  });
  std::this_thread::sleep_for(kReconnectPause);
}

void Database::run_job(Pool& pool, Job job, std::shared_ptr<PendingCall> waiting) {
  std::exception_ptr failure;
  try {
    if (!waiting->abandoned) transact(pool, job, waiting->abandoned);
  } catch (const CannotConnect& refusal) {
    count_connection(pool);
    if (pool.connected > 0) {
      pool.tell_shortage(refusal.what());
      if (steady_ns() < job.until_ns) return hand_over(pool, std::move(job), std::move(waiting));
    } else {
      pool.tell_unreachable(refusal.what());
    }
    pool.refuse_for_a_while();
    failure = std::make_exception_ptr(unavailable());
  } catch (...) {
    failure = std::current_exception();
  }
  count_connection(pool);
  job.work = nullptr;
  complete(std::move(waiting), std::move(failure));
  // Last, because at zero an observer may destroy the caller's loop.
  --pool.waiting;
}

// Changing a row may find room in its page on a disk that has none for another page.
Task<bool> Database::has_disk_space() {
  if (!disk_full_) co_return true;
  const int64_t now = steady_ns();
  int64_t before = space_tried_ns_;
  if (now - before < kTrySpaceEvery.count() ||
      !space_tried_ns_.compare_exchange_strong(before, now))
    co_return false;
  auto trial = run([](pqxx::work& tx) {
    tx.exec("CREATE TEMPORARY TABLE room ON COMMIT DROP AS SELECT generate_series(1, 10000)");
  });
  co_await std::move(trial);
  disk_full_ = false;
  co_return true;
}

void Database::record_answer() { answered_ns_ = steady_ns(); }

Task<void> Database::dispatch(Pool& pool, Job job) {
  const auto patience = job.patience;
  const int64_t begin = steady_ns();
  if (begin < pool.refused_until_ns || pool.waiting >= pool.max_waiting) throw unavailable();
  job.until_ns = begin + std::chrono::nanoseconds(patience).count();
  const auto executor = co_await asio::this_coro::executor;
  const auto strand = asio::make_strand(executor);
  auto waiting = std::make_shared<PendingCall>(strand);
  const PendingCall::Caller caller{waiting};
  ++pool.waiting;
  pool.threads.post([this, &pool, waiting, job = std::move(job)]() mutable {
    run_job(pool, std::move(job), std::move(waiting));
  });
  auto first = std::min(patience, options_.patience);
  if (is_unresponsive()) first = std::min(first, options_.patience / kSilentShare);
  bool done =
      co_await asio::co_spawn(strand, PendingCall::end(waiting, first), asio::use_awaitable);
  if (!done && answered_ns_ > begin && patience > first) {
    const auto rest = patience - first;
    done = co_await asio::co_spawn(strand, PendingCall::end(waiting, rest), asio::use_awaitable);
  }
  // A caller that leaves says nothing about the server.
  const auto state = co_await asio::this_coro::cancellation_state;
  if (!done && state.cancelled() != asio::cancellation_type::none)
    throw boost::system::system_error(asio::error::operation_aborted);
  if (!done && answered_ns_ < begin) {
    unanswered_since_ns_ = steady_ns();
    pool.tell_unreachable("no answer within " + std::to_string(first.count()) + " ms");
  }
  if (!done) throw unavailable();
  if (waiting->failure) std::rethrow_exception(std::exchange(waiting->failure, nullptr));
}

// One attempt on this thread's connection. Returns false if the connection died although another
// one may live.
bool Database::attempt_once(const Job& job, const std::atomic<bool>& abandoned, bool first) {
  auto& connection = connection_of_this_thread();
  const bool last = !connection || !first;
  try {
    if (!connection) connection = connect(options_);
  } catch (const pqxx::broken_connection& failure) {
    throw CannotConnect(failure.what());
  }
  try {
    if (job.is_statement) {
      pqxx::nontransaction statement(*connection);
      job.work(statement);
    } else {
      pqxx::work tx(*connection);
      record_answer();
      if (job.patience != options_.patience)
        tx.exec("SET LOCAL " + timeout("statement", job.patience));
      job.work(tx);
      if (!abandoned) tx.commit();
    }
    record_answer();
    return true;
  } catch (const pqxx::in_doubt_error&) {
    connection.reset();
    throw;
  } catch (const pqxx::sql_error& failure) {
    // libpqxx reports a connection that breaks amid a query as a failed query.
    if (connection->is_open()) throw;
    connection.reset();
    if (last) throw pqxx::broken_connection(failure.what());
    return false;
  } catch (const pqxx::broken_connection&) {
    connection.reset();
    if (last) throw;
    return false;
  }
}

void Database::transact(Pool& pool, const Job& job, const std::atomic<bool>& abandoned) {
  for (int attempt = 1; attempt <= kAttempts && !abandoned; ++attempt) {
    try {
      if (attempt_once(job, abandoned, attempt == 1)) return pool.tell_answer();
    } catch (const OutOfDate&) {
    } catch (const pqxx::serialization_failure&) {
    } catch (const pqxx::deadlock_detected&) {
    } catch (const pqxx::broken_connection& failure) {
      pool.refuse_for_a_while();
      pool.tell_unreachable(failure.what());
      throw unavailable();
    } catch (const pqxx::in_doubt_error&) {
      throw unavailable();
    } catch (const pqxx::unique_violation&) {
      throw Error(ErrorCode::conflict, "another request did this at the same time");
    } catch (const pqxx::sql_error& failure) {
      record_answer();
      if (failure.sqlstate() == kDiskFull) disk_full_ = true;
      pool.refuse(failure);
    } catch (const pqxx::failure& failure) {
      log::error("database query failed", {{"reason", failure.what()}});
      throw Error(ErrorCode::internal, "a database query failed");
    }
  }
  throw Error(ErrorCode::unavailable, "the database is too contended");
}

}  // namespace sandgate
