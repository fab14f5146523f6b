#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <pqxx/pqxx>

#include "gateway/core/async.hpp"
#include "gateway/core/lasting_trouble.hpp"
#include "gateway/core/thread_pool.hpp"

namespace sandgate {

// Thrown by a transaction that was given something which is out of date: it runs again, as after a
// serialization failure.
struct OutOfDate {};

// A pool of PostgreSQL connections, each with a thread of its own. A transaction is one lambda that
// runs on such a thread and commits when the lambda returns. The lambda may run again after a
// serialization failure, a deadlock or a connection that broke while idle, so it must have no
// effect outside its transaction.
//
// The caller's time limit also bounds the server's work: the statement timeout is slightly longer.
// Work whose caller timed out or was cancelled before it began never starts; a transaction whose
// caller did so before its commit is rolled back, since nobody would go on with what it began.
// Waiting for a lock ends after Options::patience, however long the work itself may take, with
// Error(unavailable): a blocked transaction must not occupy a connection.
//
// A server that has fewer connections left than a pool wants is used with those it gives.
//
// Failures: a broken, refused or overdue connection is Error(unavailable). Errors thrown by the
// lambda roll back and propagate. An uncaught unique violation is Error(conflict). Everything else
// is logged and becomes Error(internal). That the server is away is logged when it begins, every 30
// seconds after that, and when it is over.
class Database {
 public:
  struct Options {
    std::string url;  // libpq connection string or URI
    size_t connections = 4;
    size_t report_connections = 2;
    size_t max_waiting = 1024;  // queued and running; further callers are refused at once
    size_t max_waiting_reports = 64;  // the same limit for reports
    // Time from call to answer; then the call throws Error(unavailable). While the server is silent
    // (no answer to anybody since a caller last timed out), callers wait only a tenth of it.
    std::chrono::milliseconds patience{2000};
  };

  explicit Database(Options options);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Runs `work(pqxx::work&)` and returns its result (or void).
  template <class F>
  auto run(F work) -> Task<std::invoke_result_t<F&, pqxx::work&>> {
    return run_within(options_.patience, std::move(work));
  }

  // Like run() with a longer limit, which applies only if the server has answered some caller
  // during the first Options::patience.
  template <class F>
  auto run_within(std::chrono::milliseconds patience, F work) {
    return run_on<pqxx::work>(*pool_, patience, std::move(work));
  }

  // Like run() for a single statement, which is its own transaction: `work(pqxx::nontransaction&)`
  // costs one round trip. After a broken connection the statement may run again although it may
  // already have taken effect.
  template <class F>
  auto run_statement(F work) {
    return run_on<pqxx::nontransaction>(*pool_, options_.patience, std::move(work));
  }

  // Like run_within() on a separate set of connections, for long reads of histories. However many
  // reports run, the other calls keep their connections and their queue.
  template <class F>
  auto report(std::chrono::milliseconds patience, F work) {
    return run_on<pqxx::work>(*reports_, patience, std::move(work));
  }

  // Whether the server's disk has space. False once a write found none, until a trial write
  // succeeds; this function makes the trial, at most once a second, and throws what fails it.
  Task<bool> has_disk_space();

  const Options& options() const { return options_; }
  // Number of transactions queued or running. Their callers' loops must outlive them.
  size_t in_flight() const { return pool_->waiting + reports_->waiting; }

 private:
  struct PendingCall;
  struct Job {
    std::chrono::milliseconds patience;
    std::function<void(pqxx::transaction_base&)> work;
    bool is_statement = false;
    int64_t until_ns = 0;  // steady clock; nobody waits any more
  };
  struct Pool {
    Pool(const char* of, size_t connections, size_t most)
        : threads(connections), max_waiting(most), kind(of) {}
    ThreadPool threads;
    const size_t max_waiting;
    std::atomic<size_t> waiting{0};
    std::atomic<size_t> connected{0};  // threads that have a connection
    std::atomic<int64_t> refused_until_ns{0};  // steady clock; calls before it fail at once
    const char* const kind;  // in the log
    LastingTrouble unreachable, shortage;
    std::mutex unable_mutex;
    std::map<std::string, LastingTrouble> unable;  // by SQLSTATE, of which there are dozens
    void refuse_for_a_while();
    void tell_unreachable(const std::string& reason);
    void tell_shortage(const std::string& reason);  // other connections of this pool are open
    // A server that takes no writes, or is out of something, says so to every call: of each state a
    // line when it is met, and one every 30 seconds.
    void tell_unable(const pqxx::sql_error& failure);
    void tell_answer();
    // Translates a failed query for its caller.
    [[noreturn]] void refuse(const pqxx::sql_error& failure);
  };

  template <class Transaction, class F>
  auto run_on(Pool& pool, std::chrono::milliseconds patience, F work)
      -> Task<std::invoke_result_t<F&, Transaction&>>;
  // These functions run on a pool thread: connect if needed, retry, translate failures.
  void transact(Pool& pool, const Job& job, const std::atomic<bool>& abandoned);
  bool attempt_once(const Job& job, const std::atomic<bool>& abandoned, bool first);
  void run_job(Pool& pool, Job job, std::shared_ptr<PendingCall> waiting);
  // Gives a job back that this thread has no connection for, and lets the others take it.
  void hand_over(Pool& pool, Job job, std::shared_ptr<PendingCall> waiting);
  static void count_connection(Pool& pool);
  static void complete(std::shared_ptr<PendingCall> waiting, std::exception_ptr failure);
  void record_answer();
  bool is_unresponsive() const { return unanswered_since_ns_ > answered_ns_; }
  // Queues a job on the pool and waits for its end, at most for its patience.
  Task<void> dispatch(Pool& pool, Job job);

  Options options_;
  std::atomic<int64_t> answered_ns_{0};  // when the server last answered
  std::atomic<int64_t> unanswered_since_ns_{0};  // when a caller last timed out without any answer
  std::atomic<bool> disk_full_{false};  // a write found no space, and no trial did since
  std::atomic<int64_t> space_tried_ns_{0};
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
    // Shared with the pool thread, which may still write the result after the caller has given up.
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
