#include "billing/usage/metered_counters.hpp"

#include <algorithm>

namespace sandgate {
namespace {

// How late a reading may arrive, and how far its time may be off.
constexpr std::chrono::seconds kLateReading{5};
constexpr int64_t kMicros = 1'000'000;  // of a second
constexpr int64_t kBytesPerMicroOfGbit = 125;

int64_t increase(int64_t seen, int64_t reading) {
  return reading >= seen ? reading - seen : reading;
}

// Vendors allot whole processors.
int64_t processors(int64_t milli_vcpu) { return (milli_vcpu + 999) / 1000; }

// The processor time that the size asked for comes to in these pieces, in microseconds.
int64_t busy_throughout(int64_t milli_vcpu, const std::vector<Interval>& pieces) {
  Time::duration length{};
  for (const Interval& piece : pieces) length += piece.to - piece.from;
  return static_cast<int64_t>(Decimal::Integer(milli_vcpu) * length.count() / 1000);
}

// Splits `whole` into integers in proportion to the pieces' lengths; they add up to `whole`.
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

}  // namespace

std::vector<Interval> MeteredCounters::running_until(Time until, Time sampled_at,
                                                     const PriceSnapshot& prices) const {
  std::vector<Interval> pieces;
  const auto add = [&](Time from, Time to) {
    const auto moments = prices.changes(from, to);
    for (const Interval& piece : split_interval({from, to}, moments, SIZE_MAX))
      pieces.push_back(piece);
  };
  add(observed_at, std::min(paused_from.value_or(until), until));
  // After a clock stepped back, running may go on before it stopped.
  if (resumed_at) add(std::max({*resumed_at, *paused_from, observed_at}), until);
  // No time ran: an increase is booked where running stopped.
  if (pieces.empty()) pieces.push_back({observed_at, observed_at});
  // The sandbox ran on after its end, until it was stopped.
  const bool ran = !paused_from || resumed_at;
  if (ran && sampled_at > until + kLateReading) pieces.push_back({until, sampled_at});
  return pieces;
}

int64_t MeteredCounters::counted(int64_t seen, int64_t reading, int64_t per_micro, Interval span) {
  const int64_t more = increase(seen, reading);
  const Time::duration length = span.to - std::min(std::max(read_at, span.from), span.to);
  const Decimal::Integer most = Decimal::Integer(per_micro) * (length + kLateReading).count();
  if (more <= most) return more;
  is_cut = true;
  return static_cast<int64_t>(most);
}

int64_t MeteredCounters::busy_until(const Resources& size, int64_t reading,
                                    const std::vector<Interval>& pieces, Interval span) {
  const int64_t whole = processors(size.milli_vcpu);
  const int64_t busy = counted(cpu_micros_seen, reading, whole, span);
  const int64_t charged = std::min(busy, busy_throughout(size.milli_vcpu, pieces));
  // A reading stands for a moment near its own, so a little more belongs to the next one.
  cpu_micros_seen = reading - std::min(busy - charged, whole * kLateReading.count() * kMicros);
  return charged;
}

std::vector<UsageEvent> MeteredCounters::take(const MeteredLife& life,
                                              const Meter::Measured& totals, Time until,
                                              const PriceBooks::RatingContext& rating,
                                              int64_t most_egress) {
  std::vector<UsageEvent> events;
  const Time latest = std::max(rating.now, until) + kLateReading;
  if (totals.sampled_at <= read_at || totals.sampled_at > latest) return events;
  if (until <= observed_at && life.ends_at && *life.ends_at <= observed_at) pass_over(totals);
  if (until <= observed_at) return events;
  const auto pieces = running_until(until, totals.sampled_at, *rating.prices);
  const Interval span{life.opened_at, totals.sampled_at};
  const auto count = [&](MeterKind meter, int64_t whole, auto quantity_of, Decimal& total) {
    const auto parts = shares(whole, pieces);
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (parts[i] == 0 || pieces[i].from >= until) continue;
      events.push_back(life.use(*rating.prices, meter, pieces[i], quantity_of(parts[i]), total));
    }
  };
  if (totals.egress_bytes && *totals.egress_bytes >= 0) {
    const int64_t sent =
        counted(egress_bytes_seen, *totals.egress_bytes, most_egress * kBytesPerMicroOfGbit, span);
    count(MeterKind::egress_gib, sent, gib, egress_total);
    egress_bytes_seen = *totals.egress_bytes;
  }
  if (totals.active_cpu_micros && *totals.active_cpu_micros >= 0) {
    const int64_t busy = busy_until(life.resources, *totals.active_cpu_micros, pieces, span);
    count(MeterKind::active_cpu_second, busy, seconds, cpu_total);
  }
  observed_at = until;
  read_at = totals.sampled_at;
  if (resumed_at) paused_from = resumed_at = std::nullopt;
  return events;
}

void MeteredCounters::pass_over(const Meter::Measured& totals) {
  if (totals.egress_bytes && *totals.egress_bytes >= 0) egress_bytes_seen = *totals.egress_bytes;
  if (totals.active_cpu_micros && *totals.active_cpu_micros >= 0)
    cpu_micros_seen = *totals.active_cpu_micros;
  read_at = totals.sampled_at;
}

void MeteredCounters::pause(Time at) {
  observed_at = std::max(observed_at, resumed_at.value_or(observed_at));
  paused_from = at;
  resumed_at = std::nullopt;
}

void MeteredCounters::resume(Time at) {
  if (paused_from) resumed_at = at;
}

}  // namespace sandgate
