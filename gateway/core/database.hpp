#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/thread_pool.hpp>
#include <pqxx/pqxx>

#include "gateway/core/async.hpp"

namespace sandgate {

// A pool of PostgreSQL connections, one per thread of its own. A transaction is one lambda that
// runs on such a thread and commits when it returns; it may run again after a serialization
// failure or deadlock, so it must have no effect outside its transaction.
//
// The server is told the same limit of time as the caller: what nobody waits for ends there too,
// and what was given up before it began, by time or because its caller went, never begins. A lock
// that somebody else holds is waited for no longer than Options::patience, however long the work
// itself may take, so that it keeps no connection of the pool: Error(unavailable).
//
// Failures: a broken, refused or overdue connection is Error(unavailable); Errors the lambda
// throws pass through (and roll back); a unique violation nobody caught is Error(conflict);
// everything else is Error(internal) and logged.
class Database {
 public:
  struct Options {
    std::string url;  // libpq connection string or URI
    size_t connections = 4;
    size_t report_connections = 2;
    size_t max_waiting = 1024;  // more callers than that are refused at once
    size_t max_waiting_reports = 64;  // likewise, by themselves
    // From call to answer, then unavailable. While the server is silent (not one answer since
    // somebody's patience ended) callers wait a tenth of it.
    std::chrono::milliseconds patience{2000};
  };

  explicit Database(Options options);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Runs `work(pqxx::work&)` and returns what it returns (or void).
  template <class F>
  auto run(F work) -> Task<std::invoke_result_t<F&, pqxx::work&>> {
    return run_within(options_.patience, std::move(work));
  }

  // The same with a longer limit; it counts where the server answers at all, to whomever.
  template <class F>
  auto run_within(std::chrono::milliseconds patience, F work) {
    return run_on<pqxx::work>(*pool_, patience, std::move(work));
  }

  // The same for work of one statement, which is a transaction by itself:
  // `work(pqxx::nontransaction&)` costs one round trip. It may run again when the connection
  // breaks, as if it had not before.
  template <class F>
  auto run_statement(F work) {
    return run_on<pqxx::nontransaction>(*pool_, options_.patience, std::move(work));
  }

  // The same on connections of their own, for what callers ask to be read from long histories: any
  // number of them leaves the others their connections and their place in line.
  template <class F>
  auto report(std::chrono::milliseconds patience, F work) {
    return run_on<pqxx::work>(*reports_, patience, std::move(work));
  }

  const Options& options() const { return options_; }
  // Transactions asked for and not ended. The loops of their callers must outlive them.
  size_t under_way() const { return pool_->waiting + reports_->waiting; }

 private:
  struct Waiting;
  struct Job {
    std::chrono::milliseconds patience;
    std::function<void(pqxx::transaction_base&)> work;
    bool is_statement = false;
  };
  struct Pool {
    Pool(size_t connections, size_t most) : threads(connections), max_waiting(most) {}
    asio::thread_pool threads;
    const size_t max_waiting;
    std::atomic<size_t> waiting{0};
  };

  template <class Transaction, class F>
  auto run_on(Pool& pool, std::chrono::milliseconds patience, F work)
      -> Task<std::invoke_result_t<F&, Transaction&>>;
  // These run on a pool thread: connect if needed, retry, translate failures.
  void transact(const Job& job);
  bool attempt_once(const Job& job, bool first);
  void run_job(Pool& pool, Job job, std::shared_ptr<Waiting> waiting);
  static void tell(std::shared_ptr<Waiting> waiting, std::exception_ptr failure);
  void heard();
  bool silent() const { return silent_since_ns_ > heard_ns_; }
  // Hands a job to the pool and waits for its end, its patience at most.
  Task<void> dispatch(Pool& pool, Job job);

  Options options_;
  std::atomic<int64_t> refused_until_ns_{0};  // steady clock; a dead server is not asked in a storm
  std::atomic<int64_t> heard_ns_{0};  // when the server last answered anything
  std::atomic<int64_t> silent_since_ns_{0};  // when patience last ended without a word from it
  std::unique_ptr<Pool> pool_, reports_;
};

template <class Transaction, class F>
auto Database::run_on(Pool& pool, std::chrono::milliseconds patience, F work)
    -> Task<std::invoke_result_t<F&, Transaction&>> {
  using R = std::invoke_result_t<F&, Transaction&>;
  constexpr bool kIsStatement = std::is_same_v<Transaction, pqxx::nontransaction>;
  // Jobs are named before they are awaited: see tests/style/awaited_temporaries.py.
  if constexpr (std::is_void_v<R>) {
    auto shared = std::make_shared<F>(std::move(work));
    Job job{patience,
            [shared](pqxx::transaction_base& tx) { (*shared)(static_cast<Transaction&>(tx)); },
            kIsStatement};
    co_await dispatch(pool, std::move(job));
  } else {
    // Shared with the pool thread: a caller that gave up leaves it something to write to.
    struct State {
      F work;
      std::optional<R> result;
    };
    auto state = std::make_shared<State>(State{std::move(work), std::nullopt});
    Job job{patience,
            [state](pqxx::transaction_base& tx) {
              state->result.emplace(state->work(static_cast<Transaction&>(tx)));
            },
            kIsStatement};
    co_await dispatch(pool, std::move(job));
    co_return std::move(*state->result);
  }
}

}  // namespace sandgate
