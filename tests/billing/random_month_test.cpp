#include <cstdlib>
#include <random>

#include "billing/budgets/budget_store.hpp"
#include "billing/invoices/invoices.hpp"
#include "billing/ledger/losses.hpp"
#include "tests/billing/billing_fixture.hpp"

namespace sandgate {
namespace {

using namespace std::chrono_literals;
using test::at;
using test::run;

constexpr int kSandboxes = 2'000;
constexpr size_t kStepsPerTransaction = 100;

// SANDGATE_MONTH_SANDBOXES sets another number: 10 000 take about two minutes.
int sandboxes_of_the_month() {
  const char* text = std::getenv("SANDGATE_MONTH_SANDBOXES");
  return text ? std::atoi(text) : kSandboxes;
}

class Crash : public std::exception {};

// A month of everything: sandboxes of two tenants that start, pause, change size, resume and end,
// prices that change, clocks that step back, transactions that die at their end and are done again,
// ends that are told of late, invoices issued before all usage is known.
class RandomMonth : public test::BillingFixture {
 protected:
  struct Step {
    Time when;
    std::function<void(pqxx::work&)> work;
  };

  uint64_t below(uint64_t limit) { return random_() % limit; }

  void plan_prices() {
    for (int change = 0; change < 8; ++change) {
      const Time when = month + std::chrono::hours(90 * change);
      const std::string text =
          R"({"kind":"cost","currency":"USD","effective_from":")" + to_rfc3339(when) +
          R"(","entries":[{"provider":"acme","meter":"vcpu_second","unit_price":"0.0000)" +
          std::to_string(100 + below(900)) +
          (change % 2 ? R"(","minimum":"61","rounding":"7","included":"3"},)" : R"("},)") +
          R"({"provider":"*","meter":"active_cpu_second","unit_price":"0.00001"},
          {"provider":"*","meter":"memory_gib_second","unit_price":"0.00000)" +
          std::to_string(1 + below(99)) +
          R"("},{"provider":"acme","region":"eu","meter":"sandbox_created","unit_price":"0.0001"}]})";
      insert_version("list", to_rfc3339(when), text);
    }
    insert_version("vip", "2026-10-11T11:11:11Z",
                   R"({"kind":"charge","tenant":")" + second.value +
                       R"(","currency":"USD","effective_from":"2026-10-11T11:11:11Z",
      "markup_percent":"17.5"})");
  }

  Resources any_size() {
    return {.milli_vcpu = static_cast<int64_t>(1 + below(16)) * 250,
            .memory_mib = static_cast<int64_t>(1 + below(4096)),
            .disk_gib = static_cast<int64_t>(below(5))};
  }

  void plan_sandbox() {
    const MeteredSandbox box{.id = SandboxId::make(),
                             .tenant = below(3) == 0 ? second : tenant,
                             .profile = below(2) == 0 ? "python" : "node",
                             .profile_version = 1,
                             .deployment = "acme-1",
                             .provider = "acme",
                             .region = below(2) == 0 ? "eu" : "us",
                             .resources = any_size(),
                             .metadata = {{"run", std::to_string(below(5))}}};
    Time when = month + std::chrono::microseconds(below(2'500'000'000'000));
    const auto then = [&](std::function<void(pqxx::work&)> work) {
      steps_.push_back({when, std::move(work)});
      when += std::chrono::microseconds(below(600'000'000));
    };
    then([=, this](pqxx::work& tx) { meter.open(tx, box); });
    int64_t counted = 0;
    const auto read = [&] {
      counted = below(5) == 0 ? 0 : counted + static_cast<int64_t>(below(90'000'000));
      then([this, box, counted](pqxx::work& tx) {
        meter.observe(tx, box.id, {counted, counted, now.value});
      });
    };
    for (uint64_t changes = below(3); changes > 0; --changes) {
      if (below(2) == 0) read();
      const auto state = static_cast<MeterState>(below(3));
      const Resources size = any_size();
      then([=, this](pqxx::work& tx) { meter.change(tx, box.id, state, size); });
    }
    read();
    const Time ended = when - std::chrono::seconds(below(30));
    then([=, this](pqxx::work& tx) { meter.close(tx, box.id, ended); });
    if (below(4) > 0) return;
    then([=, this](pqxx::work& tx) { losses.book_late_end(tx, box.id, "box", std::nullopt); });
  }

  // In order, some times a little back; now and then everything since the last commit is lost and
  // done again.
  void perform() {
    std::stable_sort(steps_.begin(), steps_.end(),
                     [](const Step& a, const Step& b) { return a.when < b.when; });
    for (size_t begin = 0; begin < steps_.size(); begin += kStepsPerTransaction) {
      const size_t end = std::min(begin + kStepsPerTransaction, steps_.size());
      if (below(10) == 0) {
        EXPECT_THROW(run_steps(begin, end, true), Crash);
      }
      run_steps(begin, end, false);
      if (below(8) == 0) run(meter.flush(*database, 0s));
    }
  }

  void run_steps(size_t begin, size_t end, bool crash) {
    run(database->run_within(60s, [&](pqxx::work& tx) {
      for (size_t i = begin; i < end; ++i) {
        const bool stepped_back = i % 17 == 0;
        now.value = steps_[i].when - (stepped_back ? 300s : 0s);
        steps_[i].work(tx);
      }
      if (crash) throw Crash();
    }));
  }

  struct SetClock : Clock {
    Time value;
    Time now() const override { return value; }
  };

  void ask_the_oracle() {
    const std::string command =
        "python3 " SANDGATE_ORACLE " '" + database.url() +
        "' > /tmp/oracle.$$ 2>&1;"
        " status=$?; tail -5 /tmp/oracle.$$; rm -f /tmp/oracle.$$; exit $status";
    EXPECT_EQ(std::system(command.c_str()), 0);
  }

  const Time month = at("2026-10-01T00:00:00Z");
  std::mt19937_64 random_{20261001};
  TenantId second = TenantId::make();
  SetClock now;
  Meter meter{books, &now};
  Losses losses{books, &now};
  std::vector<Step> steps_;
};

TEST_F(RandomMonth, IsRecomputedToTheLastDigit) {
  run(database->run([&](pqxx::work& tx) {
    tx.exec_params("INSERT INTO tenant (id, name) VALUES ($1, 'second')", second.value);
  }));
  Budgets enforced(books);
  BudgetStore budgets(*database, enforced);
  for (const char* scope : {R"({"profile":"node"})", R"({"metadata":{"run":"3"}})"})
    run(budgets.put(budget_from(
        parse_json(R"({"amount":"900000","currency":"USD","window":"total","applies_to":)" +
                   std::string(scope) + "}"),
        tenant, scope[2] == 'p' ? "node" : "run")));
  now.value = month;
  plan_prices();
  for (int i = sandboxes_of_the_month(); i > 0; --i) plan_sandbox();
  perform();
  now.value = at("2026-11-03T00:00:00Z");
  run(meter.flush(*database, 0s));
  Invoices invoices(*database);
  const auto issue = [&](const TenantId& whose, const char* from, const char* to) {
    run(invoices.issue(run(invoices.draft({whose, at(from), at(to), std::nullopt})).id));
  };
  issue(tenant, "2026-10-01T00:00:00Z", "2026-10-16T00:00:00Z");
  // Late: a sandbox of the invoiced time that nobody had told of.
  steps_.clear();
  plan_sandbox();
  perform();
  issue(tenant, "2026-10-16T00:00:00Z", "2026-11-01T00:00:00Z");
  issue(second, "2026-10-01T00:00:00Z", "2026-11-01T00:00:00Z");
  EXPECT_EQ(rows("SELECT count(*) FROM metered_sandbox WHERE state <> 'closed'"),
            std::vector<std::string>{"0"});
  ask_the_oracle();
}

}  // namespace
}  // namespace sandgate
