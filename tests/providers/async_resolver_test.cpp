#include "providers/transport/async_resolver.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>

#include "gateway/core/settle.hpp"
#include "tests/support/code_of.hpp"
#include "tests/support/run.hpp"

namespace sandgate {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Addresses = AsyncResolver::Addresses;

// A name server that never answers for names of "silent.example", until it is let go.
class SlowNames {
 public:
  ~SlowNames() {
    std::unique_lock lock(mutex_);
    released_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return asked_ == 0; });
  }
  AsyncResolver::Resolve ask() {
    return [this](const std::string& host) {
      std::unique_lock lock(mutex_);
      most_ = std::max(most_, ++asked_);
      changed_.notify_all();
      if (host.ends_with("silent.example")) changed_.wait(lock, [this] { return released_; });
      --asked_;
      changed_.notify_all();
      return Addresses(1, asio::ip::make_address("192.0.2.1"));
    };
  }
  void wait_for(size_t asked) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return asked_ >= asked; });
  }
  size_t most() {
    std::lock_guard lock(mutex_);
    return most_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t asked_ = 0, most_ = 0;
  bool released_ = false;
};

class Names : public testing::Test {
 protected:
  // What a caller who waits for `timeout` at the most hears.
  std::optional<ErrorCode> find(const std::string& host, milliseconds timeout,
                                bool trusted = false) {
    auto finding = attempt_within(timeout, lookup.find(host, trusted));
    const auto outcome = test::run(std::move(finding));
    const auto* error = std::get_if<Error>(&outcome);
    return error ? std::optional(error->code) : std::nullopt;
  }
  SlowNames names;
  AsyncResolver lookup{names.ask(),
                       {.at_once = 4, .for_tenants = 3, .of_one_domain = 2, .waiting = 2}};
};

TEST_F(Names, WhoAsksLeavesWhenItLikes) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(find("a.silent.example", milliseconds(20)), ErrorCode::timeout);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(10));
  EXPECT_FALSE(find("a.lively.example.org", seconds(60)));
}

TEST_F(Names, ASilentDomainHoldsUpNoOther) {
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(find(std::to_string(i) + ".silent.example", milliseconds(20)), ErrorCode::timeout);
  names.wait_for(2);
  EXPECT_EQ(names.most(), 2U);
  EXPECT_FALSE(find("lively.org", seconds(60)));
}

TEST_F(Names, TenantsLeaveRoomForTheOperator) {
  // Names whose last labels differ, and none of which is answered.
  AsyncResolver silent([this](const std::string&) { return names.ask()("x.silent.example"); },
                       {.at_once = 2, .for_tenants = 1, .of_one_domain = 1, .waiting = 1});
  const auto ask = [&](const std::string& host, bool trusted) {
    auto finding = attempt_within(milliseconds(20), silent.find(host, trusted));
    return std::get<Error>(test::run(std::move(finding))).code;
  };
  EXPECT_EQ(ask("a.one", false), ErrorCode::timeout);
  EXPECT_EQ(ask("a.two", false), ErrorCode::timeout);
  names.wait_for(1);
  EXPECT_EQ(names.most(), 1U) << "the other tenant waits";
  EXPECT_EQ(ask("a.three", true), ErrorCode::timeout);
  names.wait_for(2);
}

TEST_F(Names, ManySilentDomainsLeaveRoomForAnother) {
  AsyncResolver some([this](const std::string& host) { return names.ask()(host); },
                     {.at_once = 12, .for_tenants = 12, .of_one_domain = 8, .waiting = 60});
  const auto ask = [&](const std::string& host, milliseconds timeout) {
    auto finding = attempt_within(timeout, some.find(host, false));
    return test::run(std::move(finding)).index() == 0;
  };
  for (int i = 0; i < 10; ++i)
    for (const std::string domain : {"asilent.example", "bsilent.example", "csilent.example"})
      EXPECT_FALSE(ask(std::to_string(i) + "." + domain, milliseconds(2)));
  EXPECT_LE(names.most(), 11U);
  EXPECT_TRUE(ask("lively.org", seconds(60)));
}

TEST_F(Names, OnlySoManyWait) {
  AsyncResolver few(names.ask(),
                    {.at_once = 2, .for_tenants = 1, .of_one_domain = 1, .waiting = 4});
  size_t refused = 0;
  const auto ask = [&](std::string host) -> Task<void> {
    auto finding = attempt_within(milliseconds(50), few.find(std::move(host), false));
    const auto outcome = co_await std::move(finding);
    const auto* error = std::get_if<Error>(&outcome);
    if (error && error->code == ErrorCode::unavailable) ++refused;
  };
  using namespace asio::experimental::awaitable_operators;
  const auto all = [&]() -> Task<void> {
    auto some = ask("a.silent.example") && ask("b.silent.example") && ask("c.silent.example") &&
                ask("d.silent.example");
    auto others = ask("b.org") && ask("c.org") && ask("d.org");
    auto both = std::move(some) && std::move(others);
    co_await std::move(both);
  };
  test::run(all());
  // One is under way, and four wait: two of its domain and two others, whose turn does not come.
  EXPECT_EQ(refused, 2U);
}

TEST_F(Names, WhatWasFoundIsKeptForAWhile) {
  std::atomic<size_t> asked = 0;
  const auto ask = [&asked](const std::string& host) {
    ++asked;
    if (host == "none.org") return Addresses();
    return Addresses(1, asio::ip::make_address("192.0.2.1"));
  };
  AsyncResolver keeping(ask, {.keep = seconds(60)}), forgetting(ask, {.keep = milliseconds(0)});
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(test::run(keeping.find("a.org", false)),
              Addresses(1, asio::ip::make_address("192.0.2.1")));
  EXPECT_EQ(asked, 1U);
  for (int i = 0; i < 3; ++i) test::run(keeping.find("none.org", false));
  EXPECT_EQ(asked, 4U) << "a name may come to be";
  for (int i = 0; i < 3; ++i) test::run(forgetting.find("a.org", false));
  EXPECT_EQ(asked, 7U);
}

TEST_F(Names, AnAddressIsItsOwnAnswer) {
  EXPECT_EQ(test::run(lookup.find("::1", false)), Addresses(1, asio::ip::make_address("::1")));
  EXPECT_EQ(names.most(), 0U);
}

}  // namespace
}  // namespace sandgate
