#include "billing/usage/booking_watermark.hpp"

#include <algorithm>

#include "billing/invoices/invoice_rows.hpp"
#include "billing/prices/price_rows.hpp"

namespace sandgate {
namespace {

// Longer than a booking may take.
constexpr std::chrono::seconds kBookingTimeout{40};
constexpr std::chrono::milliseconds kFirstLook{2}, kLongestLook{100};

}  // namespace

Task<int64_t> booking_watermark(Database& database) {
  struct Begin {
    int64_t through = 0;
    std::set<std::string> raters;
  };
  // In this order: whoever drew a number up to `through` holds the rating lock by now, or has
  // ended.
  auto begin = [](pqxx::work& tx) {
    const int64_t through = last_sequence(tx);
    return Begin{through, rating_transactions(tx)};
  };
  Begin then = co_await database.run(std::move(begin));
  const auto limit = std::chrono::steady_clock::now() + kBookingTimeout;
  for (auto pause = kFirstLook; !then.raters.empty(); pause = std::min(2 * pause, kLongestLook)) {
    if (std::chrono::steady_clock::now() > limit)
      throw Error(ErrorCode::unavailable, "a booking takes too long");
    co_await sleep_for(pause);
    auto look = [](pqxx::work& tx) { return rating_transactions(tx); };
    const std::set<std::string> now = co_await database.run(std::move(look));
    std::erase_if(then.raters, [&](const std::string& one) { return !now.contains(one); });
  }
  co_return then.through;
}

}  // namespace sandgate
