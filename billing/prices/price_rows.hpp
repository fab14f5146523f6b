#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "billing/prices/price_book.hpp"
#include "gateway/core/database.hpp"

// SQL access to price versions, inside the caller's transaction.
namespace sandgate {

// The advisory lock that transactions which rate usage share and those that publish prices hold
// exclusively: an arbitrary number that no other lock has.
inline constexpr int64_t kRatingLock = 7306086894398169449;

// The time limit of a transaction that publishes: it marks what is set aside for each sandbox.
inline constexpr std::chrono::seconds kPublishTimeout{30};

// Waits for the transactions that rate usage, and keeps new ones out until this one ends. Returns
// the database's time under the lock: usage is rated up to a moment before it, and not beyond.
Time lock_publishing(pqxx::work& tx);

// The time and the newest prices for transactions that rate usage. lock_rating() keeps publishers
// out until the transaction ends; read_rating() does not.
struct RatingState {
  Time now;
  int64_t generation = 0;  // the newest version's id
};
RatingState lock_rating(pqxx::work& tx);
RatingState read_rating(pqxx::work& tx);  // takes no lock
// The virtual ids, never reused, of the transactions that hold the lock for rating now.
std::set<std::string> rating_transactions(pqxx::work& tx);

// Which versions to read: of all books or of one (none when it is unknown), with a larger id.
struct PriceFilter {
  std::optional<std::string> book;
  int64_t after = 0;
};
// By book (its bytes) and version, and so in a book by id. The first function leaves out the
// entries, of which there may be millions.
std::vector<PriceVersion> read_price_heads(pqxx::work& tx, const PriceFilter& filter = {});
std::vector<PriceVersion> read_price_versions(pqxx::work& tx, const PriceFilter& filter = {});
// Reads the entries of versions that were read without them.
void read_price_entries(pqxx::work& tx, std::vector<PriceVersion>& versions);

// Requires lock_publishing(). Adds `draft` as the book's next version, has what is set aside
// reckoned anew, notifies the replicas and returns the stored version.
PriceVersion insert_price_version(pqxx::work& tx, const PriceVersion& draft);

}  // namespace sandgate
