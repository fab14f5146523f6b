#include "gateway/core/database.hpp"

#include "gateway/core/log.hpp"

namespace sandgate {
namespace {

constexpr int kAttempts = 8;
constexpr std::chrono::milliseconds kReconnectPause{200};

int64_t steady_ns() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

Error unavailable() { return Error(ErrorCode::unavailable, "the database does not answer"); }

// Each pool thread owns one connection per Database it serves (in practice, one).
std::unique_ptr<pqxx::connection>& connection_of_this_thread() {
  thread_local std::unique_ptr<pqxx::connection> connection;
  return connection;
}

std::unique_ptr<pqxx::connection> connect(const std::string& url) {
  auto connection = std::make_unique<pqxx::connection>(url);
  pqxx::nontransaction setup(*connection);
  setup.exec("SET timezone = 'UTC'");
  setup.exec("SET client_min_messages = warning");
  setup.exec("SET default_transaction_isolation = 'read committed'");
  return connection;
}

}  // namespace

Database::Database(Options options)
    : options_(std::move(options)),
      pool_(std::make_unique<asio::thread_pool>(options_.connections)) {}

Database::~Database() { pool_->join(); }

Task<void> Database::dispatch(std::chrono::milliseconds patience, std::function<void()> job) {
  if (steady_ns() < refused_until_ns_) throw unavailable();
  if (waiting_ >= options_.max_waiting) throw unavailable();
  ++waiting_;
  // The state outlives a caller that stops waiting: the pool thread still completes into it.
  struct State {
    explicit State(asio::any_io_executor executor) : timer(executor) {}
    asio::steady_timer timer;
    std::exception_ptr failure;
    bool done = false;
  };
  const auto executor = co_await asio::this_coro::executor;
  const auto strand = asio::make_strand(executor);
  auto state = std::make_shared<State>(strand);
  state->timer.expires_after(patience);
  asio::post(*pool_, [this, state, strand, job = std::move(job)] {
    std::exception_ptr failure;
    try {
      job();
    } catch (...) {
      failure = std::current_exception();
    }
    --waiting_;
    asio::post(strand, [state, failure] {
      state->failure = failure;
      state->done = true;
      state->timer.cancel();
    });
  });
  const bool done = co_await asio::co_spawn(
      strand,
      [](std::shared_ptr<State> waited) -> Task<bool> {
        boost::system::error_code ignored;
        if (!waited->done)
          co_await waited->timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
        co_return waited->done;
      }(state),
      asio::use_awaitable);
  if (!done) throw unavailable();
  if (state->failure) std::rethrow_exception(state->failure);
}

void Database::transact(const std::function<void(pqxx::work&)>& work) {
  auto& connection = connection_of_this_thread();
  for (int attempt = 1;; ++attempt) {
    const bool last = attempt == kAttempts;
    try {
      const bool fresh = !connection;
      if (fresh) connection = connect(options_.url);
      try {
        pqxx::work tx(*connection);
        work(tx);
        tx.commit();
        return;
      } catch (const pqxx::in_doubt_error&) {
        connection.reset();
        throw;
      } catch (const pqxx::broken_connection&) {
        connection.reset();
        // An idle connection that died while nobody looked is worth one silent retry.
        if (fresh || attempt > 1) throw;
        continue;
      }
    } catch (const pqxx::serialization_failure&) {
      if (last) throw Error(ErrorCode::unavailable, "the database is too contended");
    } catch (const pqxx::deadlock_detected&) {
      if (last) throw Error(ErrorCode::unavailable, "the database is too contended");
    } catch (const pqxx::broken_connection& failure) {
      refused_until_ns_ = steady_ns() + std::chrono::nanoseconds(kReconnectPause).count();
      log::warn("database unreachable", {{"reason", failure.what()}});
      throw unavailable();
    } catch (const pqxx::in_doubt_error&) {
      throw unavailable();
    } catch (const pqxx::unique_violation&) {
      throw Error(ErrorCode::conflict, "another request did this at the same time");
    } catch (const pqxx::sql_error& failure) {
      // 57P0x: the server shuts down or starts; 53xxx: out of connections, memory or disk.
      if (std::string_view(failure.sqlstate()).starts_with("57P0") ||
          std::string_view(failure.sqlstate()).starts_with("53")) {
        connection.reset();
        throw unavailable();
      }
      log::error("database query failed",
                 {{"reason", failure.what()}, {"sqlstate", failure.sqlstate()}});
      throw Error(ErrorCode::internal, "a database query failed");
    } catch (const pqxx::failure& failure) {
      log::error("database query failed", {{"reason", failure.what()}});
      throw Error(ErrorCode::internal, "a database query failed");
    }
  }
}

}  // namespace sandgate
