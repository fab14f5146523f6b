#include "billing/prices/price_books.hpp"

#include "billing/known_tenant.hpp"
#include "billing/prices/price_rows.hpp"
#include "gateway/core/settle.hpp"

namespace sandgate {
namespace {

// For years of versions, as they are read at a start.
constexpr std::chrono::minutes kHistoryTimeout{2};

// A book's first version fixes its kind, tenant and currency; only its prices may change.
void check_succession(const PriceVersion& draft, const PriceVersion& latest, Time now) {
  Problems problems;
  if (draft.effective_from < now)
    problems.add("/effective_from", "is before now: past prices are never edited");
  if (draft.kind != latest.kind) problems.add("/kind", "differs from the book's other versions");
  if (draft.tenant != latest.tenant)
    problems.add("/tenant", "differs from the book's other versions");
  if (draft.currency != latest.currency)
    problems.add("/currency", "differs from the book's other versions");
  problems.throw_if_any();
}

// The versions themselves are kept for ever: the trail needs no copy of their entries.
Json summary_of(const PriceVersion& version) {
  Json json = to_json(version);
  json["entries"] = version.entries.size();
  return json;
}

}  // namespace

std::shared_ptr<const PriceSnapshot> PriceBooks::snapshot() const {
  const std::lock_guard lock(mutex_);
  return snapshot_;
}

std::shared_ptr<const PriceSnapshot> PriceBooks::adopt(const PriceSnapshot& known,
                                                       std::vector<PriceVersion> since) {
  auto loaded = std::make_shared<const PriceSnapshot>(known, std::move(since));
  const std::lock_guard lock(mutex_);
  if (loaded->generation() > snapshot_->generation()) snapshot_ = loaded;
  return loaded;
}

Task<void> PriceBooks::load() {
  const auto known = snapshot();
  auto read = [after = known->generation()](pqxx::work& tx) {
    return read_price_versions(tx, {.after = after});
  };
  auto since = co_await database_.run_within(kHistoryTimeout, std::move(read));
  if (!since.empty()) adopt(*known, std::move(since));
}

PriceBooks::RatingContext PriceBooks::lock(pqxx::work& tx, const Clock* clock) {
  return held_at(tx, lock_rating(tx), clock);
}

PriceBooks::RatingContext PriceBooks::peek(pqxx::work& tx, const Clock* clock) {
  return held_at(tx, read_rating(tx), clock);
}

PriceBooks::RatingContext PriceBooks::held_at(pqxx::work& tx, const RatingState& rating,
                                              const Clock* clock) {
  const Time now = clock ? clock->now() : rating.now;
  auto cached = snapshot();
  if (cached->generation() == rating.generation) return {std::move(cached), now};
  // A snapshot of the database may be older than the cache.
  const PriceSnapshot nothing;
  const PriceSnapshot& known = cached->generation() < rating.generation ? *cached : nothing;
  return {adopt(known, read_price_versions(tx, {.after = known.generation()})), now};
}

Task<PriceVersion> PriceBooks::publish(PriceVersion draft, ChangeTrail trail) {
  auto work = [draft = std::move(draft), trail = std::move(trail)](pqxx::work& tx) {
    const Time now = lock_publishing(tx);
    auto latest = read_price_heads(tx, {.book = draft.book});
    if (!latest.empty()) latest.erase(latest.begin(), latest.end() - 1);
    read_price_entries(tx, latest);
    if (!draft.tenant.empty()) check_tenant(tx, TenantId{draft.tenant});
    if (!latest.empty()) check_succession(draft, latest[0], now);
    const PriceVersion stored = insert_price_version(tx, draft);
    if (trail) trail(tx, latest.empty() ? Json() : summary_of(latest[0]), summary_of(stored));
    return stored;
  };
  auto stored = co_await database_.run_within(kPublishTimeout, std::move(work));
  // Whoever rates next reads it anyway: it is in force, and its publisher is not to try again.
  auto loading = load();
  co_await attempt(std::move(loading));
  co_return stored;
}

Task<std::vector<PriceVersion>> PriceBooks::list() {
  co_return co_await database_.run([](pqxx::work& tx) { return read_price_heads(tx); });
}

Task<std::vector<PriceVersion>> PriceBooks::get(std::string book) {
  auto work = [book](pqxx::work& tx) { return read_price_heads(tx, {.book = book}); };
  auto versions = co_await database_.run(std::move(work));
  if (versions.empty()) throw Error::not_found("price book", book);
  co_return versions;
}

Task<std::vector<PriceVersion>> PriceBooks::with_entries(std::vector<PriceVersion> heads) {
  auto work = [heads](pqxx::work& tx) {
    auto versions = heads;
    read_price_entries(tx, versions);
    return versions;
  };
  co_return co_await database_.report(kHistoryTimeout, std::move(work));
}

}  // namespace sandgate
