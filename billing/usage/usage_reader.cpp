#include "billing/usage/usage_reader.hpp"

#include <algorithm>

namespace sandgate {
namespace {

constexpr std::chrono::seconds kFresh{1};
constexpr size_t kMaxRemembered = 10'000;

}  // namespace

UsageReader::UsageReader(Database& database, Meter& meter)
    : database_(database),
      meter_(meter),
      quota_(std::max<size_t>(database.options().report_connections, 2) - 1) {}

bool UsageReader::due(const std::string& tenant) {
  const auto now = std::chrono::steady_clock::now();
  const std::lock_guard lock(mutex_);
  const auto last = refreshed_.find(tenant);
  return last == refreshed_.end() || now - last->second >= kFresh;
}

void UsageReader::note_refreshed(const std::string& tenant,
                                 std::chrono::steady_clock::time_point since) {
  const std::lock_guard lock(mutex_);
  if (refreshed_.size() >= kMaxRemembered) refreshed_.clear();
  refreshed_[tenant] = since;
}

Task<void> UsageReader::refresh(std::optional<TenantId> tenant) {
  const std::string whose = tenant ? tenant->value : "";
  if (due(whose)) {
    const auto since = std::chrono::steady_clock::now();
    if (tenant)
      co_await meter_.flush_tenant(database_, *tenant);
    else
      co_await meter_.flush(database_, kFresh);
    note_refreshed(whose, since);
  }
  co_await book_ends(tenant);
}

Task<void> UsageReader::book_ends(std::optional<TenantId> tenant) {
  std::string whose = tenant ? tenant->value : "";
  co_await meter_.settle_ends(database_, std::move(whose));
}

Task<UsageReport> UsageReader::read(UsageQuery query) {
  const auto place = acquire_report_slot(query.tenant);
  auto work = [&meter = meter_, query](pqxx::work& tx) {
    // One snapshot: what is booked during the read would count twice.
    tx.exec("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
    return read_usage(tx, query, meter.unbooked(tx, query.tenant));
  };
  co_return co_await report(query.tenant, std::move(work));
}

}  // namespace sandgate
