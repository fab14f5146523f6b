#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "billing/price_book.hpp"
#include "gateway/core/database.hpp"

// Price versions as rows. Everything here runs inside a transaction of the caller's.
namespace sandgate {

// The advisory lock shared by those that rate and exclusive to those that publish: any constant of
// its own.
inline constexpr int64_t kRatingLock = 7306086894398169449;

// Waits for the transactions that rate usage, and keeps new ones out until this one ends. Returns
// the database's clock after that: usage is rated up to a moment before it, and not beyond.
Time hold_publishing(pqxx::work& tx);

// For those that rate: keeps publishers out until the transaction ends.
struct RatingHold {
  Time now;
  int64_t generation = 0;  // the newest version's id
};
RatingHold hold_rating(pqxx::work& tx);
RatingHold look_at_rating(pqxx::work& tx);  // without keeping anybody out
// The transactions that do so right now, by names that are never used again.
std::set<std::string> raters_of(pqxx::work& tx);

// By book and version; all books, or one (empty when there is none).
std::vector<PriceVersion> read_price_versions(pqxx::work& tx, std::optional<std::string> book);

// Under hold_publishing: adds `draft` as the book's next version, tells the other replicas, and
// returns it as stored.
PriceVersion insert_price_version(pqxx::work& tx, const PriceVersion& draft);

}  // namespace sandgate
