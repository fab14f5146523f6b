#pragma once
#include <boost/asio/thread_pool.hpp>

#include "tests/sandboxes/world.hpp"

namespace sandgate::test {

// Holds locks that `query` takes while it lives, for three seconds at most.
class HeldLock {
 public:
  HeldLock(World& world, const std::string& query)
      : done_(asio::co_spawn(pool_, hold(world, query), asio::use_future)) {
    run(sleep_for(std::chrono::milliseconds(200)));
  }
  ~HeldLock() {
    done_.wait();
    pool_.join();
  }

 private:
  static Task<void> hold(World& world, std::string query) {
    return world.database->run([query](pqxx::work& tx) {
      tx.exec(query);
      tx.exec("SELECT pg_sleep(1.5)");
    });
  }

  asio::thread_pool pool_{1};
  std::future<void> done_;
};

}  // namespace sandgate::test
