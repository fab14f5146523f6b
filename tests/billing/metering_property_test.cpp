#include <random>

#include "billing/usage/usage_book.hpp"
#include "tests/billing/billing_fixture.hpp"

namespace sandgate {
namespace {

using namespace std::chrono_literals;
using test::run;

// What a sandbox should have been metered, kept apart from the code that meters.
struct Expected {
  SandboxId id;
  Resources size;
  MeterState state = MeterState::running;
  Time boundary;
  bool open = true;
  Decimal vcpu, memory, disk;

  void reach(Time now) {
    if (!open || now <= boundary) return;
    const int64_t micros = (now - boundary).count();
    if (state == MeterState::running) vcpu += vcpu_seconds(size.milli_vcpu, micros);
    if (state != MeterState::paused_disk) memory += memory_gib_seconds(size.memory_mib, micros);
    disk += disk_gib_seconds(size.disk_gib, micros);
    boundary = now;
  }
};

class Abort : public std::exception {};

class MeteringProperty : public test::BillingFixture, public ::testing::WithParamInterface<int> {
 protected:
  uint64_t below(uint64_t limit) { return random_() % limit; }

  Resources any_size() {
    return {.milli_vcpu = static_cast<int64_t>(1 + below(16)) * 250,
            .memory_mib = static_cast<int64_t>(1 + below(8192)),
            .disk_gib = static_cast<int64_t>(below(20))};
  }

  // Runs `work` in a transaction; now and then the transaction dies at its end, and (as a caller
  // does after a crash) it is done again.
  void with_crashes(const std::function<void(pqxx::work&)>& work) {
    while (below(4) == 0) {
      EXPECT_THROW(run(database->run([&](pqxx::work& tx) {
                     work(tx);
                     throw Abort();
                   })),
                   Abort);
    }
    run(database->run([&](pqxx::work& tx) { work(tx); }));
  }

  void create() {
    Expected box{.id = SandboxId::make(), .size = any_size(), .boundary = clock.now()};
    const MeteredSandbox sandbox{.id = box.id,
                                 .tenant = tenant,
                                 .profile = "python",
                                 .deployment = "acme-1",
                                 .provider = "acme",
                                 .region = "eu",
                                 .resources = box.size};
    with_crashes([&](pqxx::work& tx) { meter.open(tx, sandbox); });
    boxes_.push_back(box);
  }

  void change(Expected& box) {
    const auto state = static_cast<MeterState>(below(3));
    const Resources size = any_size();
    with_crashes([&](pqxx::work& tx) { meter.change(tx, box.id, state, size); });
    if (!box.open) return;
    box.reach(clock.now());
    box.state = state;
    box.size = size;
  }

  void close(Expected& box) {
    const Time ended = clock.now() + std::chrono::seconds(below(20)) - 10s;
    with_crashes([&](pqxx::work& tx) { meter.close(tx, box.id, ended); });
    box.reach(std::min(ended, clock.now()));
    box.open = false;
  }

  void flush() {
    run(meter.flush(*database, 0s));
    for (Expected& box : boxes_) box.reach(clock.now());
  }

  void change_price() {
    const std::string at = to_rfc3339(clock.now() + std::chrono::seconds(below(3000)));
    insert_version("list", at,
                   R"({"kind":"cost","currency":"USD","effective_from":")" + at +
                       R"(","entries":[{"provider":"acme","meter":"vcpu_second","unit_price":"0.)" +
                       std::to_string(1 + below(100000)) + R"(","minimum":"60","rounding":"1"}]})");
  }

  void step() {
    switch (below(8)) {
      case 0:
        return create();
      case 1:
        return flush();
      case 2:
        return change_price();
      case 3:
        return clock.advance(-std::chrono::seconds(below(600)));
      case 4:
        if (!boxes_.empty()) close(boxes_[below(boxes_.size())]);
        return;
      case 5:
        if (!boxes_.empty()) change(boxes_[below(boxes_.size())]);
        return;
      default:
        return clock.advance(std::chrono::microseconds(below(4'000'000'000)));
    }
  }

  std::mt19937_64 random_{static_cast<uint64_t>(GetParam())};
  std::vector<Expected> boxes_;
};

TEST_P(MeteringProperty, SecondsAddUpExactlyWhateverHappens) {
  for (int i = 0; i < 60; ++i) step();
  clock.advance(10'000s);  // beyond every step back
  flush();
  Decimal vcpu, memory, disk;
  for (const Expected& box : boxes_) {
    vcpu += box.vcpu;
    memory += box.memory;
    disk += box.disk;
  }
  auto sums = meters();
  EXPECT_EQ(sums["vcpu_second"], vcpu.to_string());
  EXPECT_EQ(sums["memory_gib_second"], memory.to_string());
  EXPECT_EQ(sums["disk_gib_second"], disk.to_string());
  EXPECT_EQ(sums["sandbox_created"], std::to_string(boxes_.size()));
  // Cut at quarters, no gap and no overlap in any sandbox's life.
  EXPECT_EQ(rows("SELECT count(*) FROM usage_event WHERE meter <> 'sandbox_created' AND"
                 " date_bin('15 min', interval_start, 'epoch') <>"
                 " date_bin('15 min', interval_end - interval '1 microsecond', 'epoch')"),
            std::vector<std::string>{"0"});
  EXPECT_EQ(rows("SELECT count(*) FROM (SELECT interval_start < lag(interval_end) OVER"
                 " (PARTITION BY sandbox, meter ORDER BY interval_start) AS overlapping"
                 " FROM usage_event WHERE meter <> 'sandbox_created') e WHERE overlapping"),
            std::vector<std::string>{"0"});
  // The parts of a meter follow each other: what came before is what was counted before.
  EXPECT_EQ(rows("SELECT count(*) FROM (SELECT quantity_before IS DISTINCT FROM"
                 " coalesce(sum(quantity) OVER (PARTITION BY sandbox, meter ORDER BY interval_start"
                 " ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS broken"
                 " FROM usage_event) e WHERE broken"),
            std::vector<std::string>{"0"});
}

INSTANTIATE_TEST_SUITE_P(Seeds, MeteringProperty, ::testing::Range(1, 5));

}  // namespace
}  // namespace sandgate
