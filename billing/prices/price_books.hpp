#pragma once
#include <memory>
#include <mutex>

#include "billing/change_trail.hpp"
#include "billing/prices/price_snapshot.hpp"
#include "gateway/core/database.hpp"

namespace sandgate {

struct RatingState;

// The price books in PostgreSQL, with the newest snapshot cached in memory. Thread-safe.
class PriceBooks {
 public:
  explicit PriceBooks(Database& database) : database_(database) {}

  // The cached snapshot, without I/O; empty before the first load(), which reads what was published
  // since the last. Subscribe load() to the channel "prices" to follow what other replicas publish.
  std::shared_ptr<const PriceSnapshot> snapshot() const;
  Task<void> load();

  // The prices and the time for a transaction that rates usage. Nothing is published until it ends,
  // so a later version cannot be in force at or before `now`. Budgets are locked after it: whoever
  // publishes takes them in that order.
  struct RatingContext {
    std::shared_ptr<const PriceSnapshot> prices;
    Time now;  // `clock`'s, else the database's, read after publishing was held off
  };
  RatingContext lock(pqxx::work& tx, const Clock* clock = nullptr);
  // As lock() without holding publication off: what follows from it is valid for its moment only.
  RatingContext peek(pqxx::work& tx, const Clock* clock = nullptr);

  // Adds a version to the draft's book (without id and version). Throws Error(invalid) when it is
  // not the book's first and takes effect before now or changes its kind, tenant or currency, and
  // Error(not_found) for an unknown tenant.
  Task<PriceVersion> publish(PriceVersion draft, ChangeTrail trail = {});
  // All versions of all books, or of one, by book and version, without their entries. The second
  // function throws Error(not_found).
  Task<std::vector<PriceVersion>> list();
  Task<std::vector<PriceVersion>> get(std::string book);
  Task<std::vector<PriceVersion>> with_entries(std::vector<PriceVersion> heads);

 private:
  RatingContext held_at(pqxx::work& tx, const RatingState& rating, const Clock* clock);
  // `since`: the versions published after those in `known`.
  std::shared_ptr<const PriceSnapshot> adopt(const PriceSnapshot& known,
                                             std::vector<PriceVersion> since);

  Database& database_;
  mutable std::mutex mutex_;
  std::shared_ptr<const PriceSnapshot> snapshot_ = std::make_shared<PriceSnapshot>();
};

}  // namespace sandgate
