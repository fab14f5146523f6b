#include "billing/metered_counters.hpp"

#include "gateway/core/statement.hpp"

namespace sandgate {
namespace {

// The last reading of a sandbox is on its way for that long.
constexpr std::chrono::seconds kLateReading{5};

int64_t increase(int64_t seen, int64_t reading) {
  return reading >= seen ? reading - seen : reading;
}

}  // namespace

std::vector<UsageEvent> MeteredCounters::take(const Meter::Measured& totals, Time now,
                                              const PriceSnapshot& prices) {
  std::vector<UsageEvent> events;
  const Time until = ended_at.value_or(now);
  if (until <= observed_at || totals.sampled_at <= read_at || now > until + kLateReading)
    return events;
  const auto count = [&](MeterKind meter, Decimal quantity, Decimal& total) {
    if (quantity.is_zero()) return;
    Rated rated =
        rate(prices, {tenant, provider, deployment, region}, meter, observed_at, total, quantity);
    events.push_back({.sandbox = id,
                      .tenant = tenant,
                      .meter = meter,
                      .interval = {observed_at, until},
                      .quantity = quantity,
                      .before = total,
                      .rated = std::move(rated)});
    total += quantity;
  };
  if (totals.egress_bytes && *totals.egress_bytes >= 0) {
    count(MeterKind::egress_gib, gib(increase(egress_bytes_seen, *totals.egress_bytes)),
          egress_total);
    egress_bytes_seen = *totals.egress_bytes;
  }
  if (totals.active_cpu_micros && *totals.active_cpu_micros >= 0) {
    count(MeterKind::active_cpu_second,
          seconds(increase(cpu_micros_seen, *totals.active_cpu_micros)), cpu_total);
    cpu_micros_seen = *totals.active_cpu_micros;
  }
  observed_at = until;
  read_at = totals.sampled_at;
  return events;
}

std::optional<MeteredCounters> lock_counters(pqxx::work& tx, const SandboxId& id) {
  const auto rows = run_prepared(
      tx,
      "SELECT tenant, deployment, provider, region, egress_bytes_seen, cpu_micros_seen,"
      " (extract(epoch FROM observed_at) * 1000000)::bigint AS observed_micros,"
      " (extract(epoch FROM counters_at) * 1000000)::bigint AS read_micros,"
      " (extract(epoch FROM boundary) * 1000000)::bigint AS boundary_micros,"
      " state = 'closed' AS closed, egress_total, cpu_total"
      " FROM metered_sandbox WHERE sandbox = $1 FOR UPDATE",
      id.value);
  if (rows.empty()) return std::nullopt;
  const auto& row = rows[0];
  const auto boundary = row["boundary_micros"].as<int64_t>();
  return MeteredCounters{
      .id = id,
      .tenant = row["tenant"].as<std::string>(),
      .deployment = row["deployment"].as<std::string>(),
      .provider = row["provider"].as<std::string>(),
      .region = row["region"].as<std::string>(),
      .observed_at = from_micros(row["observed_micros"].as<int64_t>()),
      .read_at = from_micros(row["read_micros"].as<int64_t>()),
      .ended_at = row["closed"].as<bool>() ? std::optional(from_micros(boundary)) : std::nullopt,
      .egress_bytes_seen = row["egress_bytes_seen"].as<int64_t>(),
      .cpu_micros_seen = row["cpu_micros_seen"].as<int64_t>(),
      .egress_total = Decimal::from_sql(row["egress_total"].c_str()),
      .cpu_total = Decimal::from_sql(row["cpu_total"].c_str())};
}

void update_counters(pqxx::work& tx, const MeteredCounters& counters) {
  run_prepared(tx,
               "UPDATE metered_sandbox SET observed_at = $2::timestamptz, egress_bytes_seen = $3,"
               " cpu_micros_seen = $4, egress_total = $5::numeric, cpu_total = $6::numeric,"
               " counters_at = $7::timestamptz"
               " WHERE sandbox = $1",
               counters.id.value, to_rfc3339(counters.observed_at), counters.egress_bytes_seen,
               counters.cpu_micros_seen, counters.egress_total.to_string(),
               counters.cpu_total.to_string(), to_rfc3339(counters.read_at));
}

}  // namespace sandgate
