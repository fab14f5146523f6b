#include "billing/metered_counters.hpp"

#include "gateway/core/statement.hpp"

namespace sandgate {
namespace {

// A reading may be on its way for that long, and stands for a moment up to that far off.
constexpr std::chrono::seconds kLateReading{5};
constexpr int64_t kBytesPerMicroOfGbit = 125;

int64_t increase(int64_t seen, int64_t reading) {
  return reading >= seen ? reading - seen : reading;
}

// Vendors give whole ones.
int64_t processors(int64_t milli_vcpu) { return (milli_vcpu + 999) / 1000; }

// Whole parts for each piece, in proportion to its length; they add up to `whole`.
std::vector<int64_t> shares(int64_t whole, const std::vector<Interval>& pieces) {
  int64_t length = 0, past = 0, given = 0;
  for (const Interval& piece : pieces) length += (piece.to - piece.from).count();
  std::vector<int64_t> parts;
  for (const Interval& piece : pieces) {
    past += (piece.to - piece.from).count();
    const auto up_to =
        length == 0 ? whole : static_cast<int64_t>(Decimal::Integer(whole) * past / length);
    parts.push_back(up_to - given);
    given = up_to;
  }
  return parts;
}

std::optional<Time> time_in(const pqxx::field& micros) {
  return micros.is_null() ? std::nullopt : std::optional(from_micros(micros.as<int64_t>()));
}

std::optional<std::string> time_text(const std::optional<Time>& at) {
  return at ? std::optional(to_rfc3339(*at)) : std::nullopt;
}

}  // namespace

std::vector<Interval> MeteredCounters::running_until(Time until, Time sampled_at,
                                                     const PriceSnapshot& prices) const {
  std::vector<Interval> pieces;
  const auto add = [&](Time from, Time to) {
    const auto moments = prices.changes(from, to);
    for (const Interval& piece : cut({from, to}, moments, SIZE_MAX)) pieces.push_back(piece);
  };
  add(observed_at, std::min(paused_from.value_or(until), until));
  // A clock that stepped back may say that it went on before it stopped.
  if (resumed_at) add(std::max({*resumed_at, *paused_from, observed_at}), until);
  // Nothing ran: what was counted all the same belongs to where running stopped.
  if (pieces.empty()) pieces.push_back({observed_at, observed_at});
  // It ran on beyond its end, until somebody came to it.
  const bool ran = !paused_from || resumed_at;
  if (ran && sampled_at > until + kLateReading) pieces.push_back({until, sampled_at});
  return pieces;
}

int64_t MeteredCounters::counted(int64_t seen, int64_t reading, int64_t per_micro,
                                 Time sampled_at) {
  const int64_t more = increase(seen, reading);
  const Time since = std::min(std::max(read_at, opened_at), sampled_at);
  const Time::duration span = sampled_at - since + kLateReading;
  const Decimal::Integer most = Decimal::Integer(per_micro) * span.count();
  if (more <= most) return more;
  is_cut = true;
  return static_cast<int64_t>(most);
}

std::vector<UsageEvent> MeteredCounters::take(const Meter::Measured& totals, Time now,
                                              int64_t most_egress, const PriceSnapshot& prices) {
  std::vector<UsageEvent> events;
  const Time until = ended_at.value_or(now);
  if (until <= observed_at || totals.sampled_at <= read_at ||
      totals.sampled_at > std::max(now, until) + kLateReading)
    return events;
  const auto pieces = running_until(until, totals.sampled_at, prices);
  const PriceScope scope{tenant, provider, deployment, region, own};
  const auto count = [&](MeterKind meter, int64_t whole, auto quantity_of, Decimal& total) {
    const auto parts = shares(whole, pieces);
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (parts[i] == 0 || pieces[i].from >= until) continue;
      const Decimal quantity = quantity_of(parts[i]);
      events.push_back({.sandbox = id,
                        .tenant = tenant,
                        .meter = meter,
                        .interval = pieces[i],
                        .quantity = quantity,
                        .before = total,
                        .rated = rate(prices, scope, meter, pieces[i].from, total, quantity)});
      total += quantity;
    }
  };
  if (totals.egress_bytes && *totals.egress_bytes >= 0) {
    const int64_t sent = counted(egress_bytes_seen, *totals.egress_bytes,
                                 most_egress * kBytesPerMicroOfGbit, totals.sampled_at);
    count(MeterKind::egress_gib, sent, gib, egress_total);
    egress_bytes_seen = *totals.egress_bytes;
  }
  if (totals.active_cpu_micros && *totals.active_cpu_micros >= 0) {
    const int64_t busy = counted(cpu_micros_seen, *totals.active_cpu_micros, processors(milli_vcpu),
                                 totals.sampled_at);
    count(MeterKind::active_cpu_second, busy, seconds, cpu_total);
    cpu_micros_seen = *totals.active_cpu_micros;
  }
  observed_at = until;
  read_at = totals.sampled_at;
  if (resumed_at) paused_from = resumed_at = std::nullopt;
  return events;
}

std::optional<MeteredCounters> lock_counters(pqxx::work& tx, const SandboxId& id) {
  const auto rows = run_prepared(
      tx,
      "SELECT tenant, deployment, provider, region, own, milli_vcpu, egress_bytes_seen,"
      " cpu_micros_seen, (extract(epoch FROM opened_at) * 1000000)::bigint AS opened_micros,"
      " (extract(epoch FROM observed_at) * 1000000)::bigint AS observed_micros,"
      " (extract(epoch FROM counters_at) * 1000000)::bigint AS read_micros,"
      " (extract(epoch FROM boundary) * 1000000)::bigint AS boundary_micros,"
      " (extract(epoch FROM paused_from) * 1000000)::bigint AS paused_micros,"
      " (extract(epoch FROM resumed_at) * 1000000)::bigint AS resumed_micros,"
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
      .own = row["own"].as<bool>(),
      .milli_vcpu = row["milli_vcpu"].as<int64_t>(),
      .opened_at = from_micros(row["opened_micros"].as<int64_t>()),
      .observed_at = from_micros(row["observed_micros"].as<int64_t>()),
      .read_at = from_micros(row["read_micros"].as<int64_t>()),
      .ended_at = row["closed"].as<bool>() ? std::optional(from_micros(boundary)) : std::nullopt,
      .paused_from = time_in(row["paused_micros"]),
      .resumed_at = time_in(row["resumed_micros"]),
      .egress_bytes_seen = row["egress_bytes_seen"].as<int64_t>(),
      .cpu_micros_seen = row["cpu_micros_seen"].as<int64_t>(),
      .egress_total = Decimal::from_sql(row["egress_total"].c_str()),
      .cpu_total = Decimal::from_sql(row["cpu_total"].c_str())};
}

void update_counters(pqxx::work& tx, const MeteredCounters& counters) {
  run_prepared(tx,
               "UPDATE metered_sandbox SET observed_at = $2::timestamptz, egress_bytes_seen = $3,"
               " cpu_micros_seen = $4, egress_total = $5::numeric, cpu_total = $6::numeric,"
               " counters_at = $7::timestamptz, paused_from = $8::timestamptz,"
               " resumed_at = $9::timestamptz WHERE sandbox = $1",
               counters.id.value, to_rfc3339(counters.observed_at), counters.egress_bytes_seen,
               counters.cpu_micros_seen, counters.egress_total.to_string(),
               counters.cpu_total.to_string(), to_rfc3339(counters.read_at),
               time_text(counters.paused_from), time_text(counters.resumed_at));
}

void mark_pause(pqxx::work& tx, const SandboxId& id, Time at) {
  // Of two pauses without a reading in between only the later is known.
  run_prepared(tx,
               "UPDATE metered_sandbox SET observed_at = greatest(observed_at, resumed_at),"
               " paused_from = $2::timestamptz, resumed_at = NULL WHERE sandbox = $1",
               id.value, to_rfc3339(at));
}

void mark_resume(pqxx::work& tx, const SandboxId& id, Time at) {
  run_prepared(tx,
               "UPDATE metered_sandbox SET resumed_at = $2::timestamptz"
               " WHERE sandbox = $1 AND paused_from IS NOT NULL",
               id.value, to_rfc3339(at));
}

}  // namespace sandgate
