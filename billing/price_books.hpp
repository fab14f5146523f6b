#pragma once
#include <memory>
#include <mutex>

#include "billing/change_trail.hpp"
#include "billing/price_snapshot.hpp"
#include "gateway/core/database.hpp"

namespace sandgate {

// The price books in PostgreSQL, with the newest snapshot kept in memory. Thread-safe.
class PriceBooks {
 public:
  explicit PriceBooks(Database& database) : database_(database) {}

  // The snapshot of the last load(), without I/O; no prices before the first. Subscribe the
  // channel "prices" to load() so that it follows what other replicas publish.
  std::shared_ptr<const PriceSnapshot> snapshot() const;
  Task<void> load();

  // What a transaction that rates usage works with. Until it ends nothing is published, so a
  // version that appears later cannot be in force at or before `now`.
  struct Held {
    std::shared_ptr<const PriceSnapshot> prices;
    Time now;  // the database's clock, read after publishing was held off
  };
  Held hold(pqxx::work& tx);
  // The same for who only looks: holds nothing off, so that what it works out is of its moment.
  Held look(pqxx::work& tx);

  // Adds a version; `draft` without id and version. Throws Error(invalid) when it would be in
  // force before now and is not the book's first, or changes the book's kind, tenant or currency.
  Task<PriceVersion> publish(PriceVersion draft, ChangeTrail trail = {});
  Task<std::vector<PriceVersion>> list();  // all versions of all books, by book and version
  // Throws Error(not_found).
  Task<std::vector<PriceVersion>> get(std::string book);

 private:
  Held of_generation(pqxx::work& tx, int64_t generation, Time now);
  std::shared_ptr<const PriceSnapshot> adopt(std::vector<PriceVersion> versions);

  Database& database_;
  mutable std::mutex mutex_;
  std::shared_ptr<const PriceSnapshot> snapshot_ = std::make_shared<PriceSnapshot>();
};

}  // namespace sandgate
