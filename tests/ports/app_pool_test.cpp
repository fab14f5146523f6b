#include "gateway/ports/app_pool.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

namespace sandgate::ports::test {
namespace {

// Connections whose programs are there and silent.
class Idle {
 public:
  explicit Idle(AppPool& pool) : pool_(pool) {}
  ~Idle() { drop(""); }

  // Puts as many back as were used at once at this port.
  void put(const std::string& key, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      int ends[2] = {-1, -1};
      if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) throw std::runtime_error("no sockets");
      PortConnection made;
      made.socket = Fd(ends[0]);
      programs_.emplace_back(ends[1]);
      pool_.put(std::make_unique<AppConnection>(loop_.get_executor(), key, std::move(made)));
    }
  }
  std::unique_ptr<AppConnection> take(const std::string& key) {
    return pool_.take(key, loop_.get_executor());
  }
  void drop(const std::string& sandbox) {
    pool_.drop(sandbox);
    loop_.restart();
    loop_.run();
  }

 private:
  AppPool& pool_;
  asio::io_context loop_;
  std::vector<Fd> programs_;
};

// Each is a descriptor of the gateway's, and a sandbox may have many ports.
TEST(AppPool, ASandboxKeepsNoMoreThanItLeavesFree) {
  AppPool pool(90);
  Idle idle(pool);
  for (int port = 1; port <= 10; ++port) idle.put("sb1:" + std::to_string(port), 20);
  EXPECT_EQ(pool.waiting(), 45u);
  // "sb11" is another sandbox.
  for (int port = 1; port <= 10; ++port) idle.put("sb11:" + std::to_string(port), 20);
  EXPECT_EQ(pool.waiting(), 45u + 23u);
  idle.put("sb2:80", 5);
  EXPECT_EQ(pool.waiting(), 45u + 23u + 5u);
}

TEST(AppPool, WhatIsTakenOrDroppedMakesRoom) {
  AppPool pool(20);
  Idle idle(pool);
  idle.put("sb1:80", 15);
  ASSERT_EQ(pool.waiting(), 10u);
  const auto taken = idle.take("sb1:80");
  ASSERT_TRUE(taken);
  EXPECT_EQ(pool.waiting(), 9u);
  idle.put("sb1:81", 5);
  EXPECT_EQ(pool.waiting(), 10u);
  idle.drop("sb1");
  EXPECT_EQ(pool.waiting(), 0u);
  idle.put("sb1:80", 15);
  EXPECT_EQ(pool.waiting(), 10u);
}

TEST(AppPool, KeepsAPortsOwnLimit) {
  AppPool pool(1024);
  Idle idle(pool);
  idle.put("sb1:80", AppPool::kMaxIdle + 5);
  EXPECT_EQ(pool.waiting(), AppPool::kMaxIdle);
}

TEST(AppPool, TakesAPartOfFewFiles) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{800, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  EXPECT_EQ(AppPool::usual_max_waiting(), 100u);
  setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace
}  // namespace sandgate::ports::test
