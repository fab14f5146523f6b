#include "tests/billing/billing_fixture.hpp"

#include "billing/prices/price_rows.hpp"

namespace sandgate::test {

BillingFixture::BillingFixture(TestDatabase::Owner owner)
    : database(TestDatabase::Schema::migrated, owner) {
  run(database->run([&](pqxx::work& tx) {
    tx.exec_params("INSERT INTO tenant (id, name) VALUES ($1, 'test')", tenant.value);
  }));
}

SandboxId BillingFixture::open(const Resources& resources, Json metadata) {
  const MeteredSandbox sandbox{.id = SandboxId::make(),
                               .tenant = tenant,
                               .profile = "python",
                               .profile_version = 1,
                               .deployment = "acme-1",
                               .provider = "acme",
                               .region = "eu",
                               .resources = resources,
                               .metadata = std::move(metadata)};
  run(database->run([&](pqxx::work& tx) { meter.open(tx, sandbox); }));
  return sandbox.id;
}

void BillingFixture::change(const SandboxId& id, MeterState state, const Resources& resources,
                            const std::optional<Meter::Measured>& totals) {
  run(database->run([&](pqxx::work& tx) { meter.change(tx, id, state, resources, totals); }));
}

void BillingFixture::close(const SandboxId& id, std::optional<Time> ended_at) {
  run(database->run([&](pqxx::work& tx) { meter.close(tx, id, ended_at); }));
}

void BillingFixture::publish(const std::string& book, const std::string& json) {
  run(books.publish(price_version_from(parse_json(json), book)));
}

void BillingFixture::insert_version(const std::string& book, const std::string& from,
                                    const std::string& json) {
  PriceVersion draft = price_version_from(parse_json(json), book);
  draft.effective_from = from_rfc3339(from).value();
  run(database->run([&](pqxx::work& tx) { insert_price_version(tx, draft); }));
}

BillingFixture::Quantities BillingFixture::meters() {
  const auto sums = [&](const std::string& table) {
    return run(database->run([&](pqxx::work& tx) {
      Quantities quantities;
      for (const auto& row :
           tx.exec("SELECT meter, trim_scale(sum(quantity)) FROM " + table + " GROUP BY meter"))
        quantities[row[0].as<std::string>()] = row[1].as<std::string>();
      return quantities;
    }));
  };
  const Quantities events = sums("usage_event");
  EXPECT_EQ(sums("usage_rollup"), events);
  return events;
}

std::vector<std::string> BillingFixture::rows(const std::string& sql) {
  return run(database->run([&](pqxx::work& tx) {
    std::vector<std::string> lines;
    for (const auto& row : tx.exec(sql)) {
      std::string line;
      for (const auto& field : row) line += (line.empty() ? "" : "|") + field.as<std::string>("");
      lines.push_back(line);
    }
    return lines;
  }));
}

}  // namespace sandgate::test
