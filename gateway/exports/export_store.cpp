#include "gateway/exports/export_store.hpp"

#include <algorithm>

#include "billing/invoices/invoice_rows.hpp"
#include "billing/usage/booking_watermark.hpp"
#include "gateway/exports/export_events.hpp"
#include "registry/redact_url.hpp"
#include "registry/setting_addresses.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::minutes kSinceTimeout{2};

ExportRow stored(pqxx::work& tx, const Cipher& cipher, const std::string& name) {
  auto rows = export_rows::read(tx, cipher, name);
  if (rows.empty()) throw Error::not_found("export", name);
  return std::move(rows[0]);
}

// What the trail keeps: settings, and the names of secrets.
Json trace_of(const ExportRow& row) {
  const Json all = to_json(row);
  Json trace = Json::object();
  for (const char* member : {"kind", "settings", "secret_names", "enabled"})
    trace[member] = all[member];
  const std::string url = row.settings.value("url", "");
  if (!url.empty()) trace["settings"]["url"] = redact_url(url);
  return trace;
}

// Exporters read the stored settings as they are and expect no nulls.
Json without_nulls(const Json& settings) {
  Json kept = Json::object();
  for (const auto& [name, value] : settings.items())
    if (!value.is_null()) kept[name] = value.is_object() ? without_nulls(value) : value;
  return kept;
}

// As with a deployment's credentials: nobody reads stored secrets, nor has them sent to himself.
void check_not_redirected(const ExportRow& before, const ExportRow& wanted) {
  if (addresses_in(before.settings) == addresses_in(wanted.settings)) return;
  throw Error::invalid("/secrets",
                       "are kept for the address that they were given with: with another one, "
                       "give them again");
}

// `begin`: the cursor of a new export; empty: now.
ExportRow put_in(pqxx::work& tx, const Cipher& cipher, const ExportStore::Draft& draft,
                 const ChangeTrail& trail, std::optional<int64_t> begin) {
  const auto before = export_rows::read(tx, cipher, draft.name);
  if (!before.empty() && before[0].kind != draft.kind)
    throw Error(ErrorCode::conflict, "the export is of kind " + before[0].kind);
  ExportRow row{.name = draft.name, .kind = draft.kind, .settings = without_nulls(draft.settings)};
  row.enabled = draft.enabled;
  if (draft.secrets)
    row.secrets = *draft.secrets;
  else if (!before.empty())
    row.secrets = before[0].secrets;
  Problems problems;
  find_export_kind(draft.kind)->validate(draft.settings, row.secrets, problems);
  problems.throw_if_any();
  if (!before.empty() && !draft.secrets) check_not_redirected(before[0], row);
  if (before.empty()) row.cursor = begin ? *begin : last_sequence(tx);
  export_rows::write(tx, cipher, row);
  const ExportRow after = stored(tx, cipher, draft.name);
  if (trail) trail(tx, before.empty() ? Json() : trace_of(before[0]), trace_of(after));
  return after;
}

}  // namespace

Task<ExportRow> ExportStore::put(Draft draft, ChangeTrail trail) {
  std::optional<int64_t> begin;
  if (draft.since) begin = co_await cursor_of(*draft.since);
  auto work = [this, draft, trail, begin](pqxx::work& tx) {
    return put_in(tx, cipher_, draft, trail, begin);
  };
  co_return co_await database_.run(std::move(work));
}

Task<int64_t> ExportStore::cursor_of(Time since) {
  // Bookings under way belong to the past too, but their lower sequence numbers may commit after
  // higher ones that are visible already.
  const int64_t through = co_await booking_watermark(database_);
  // No index tells it: a year of usage takes longer than other work may.
  auto finding = [since](pqxx::work& tx) { return sequence_before(tx, to_rfc3339(since)); };
  const int64_t before = co_await database_.report(kSinceTimeout, std::move(finding));
  co_return std::min(before, through);
}

Task<std::vector<ExportRow>> ExportStore::list() {
  auto work = [this](pqxx::work& tx) { return export_rows::read(tx, cipher_, std::nullopt); };
  co_return co_await database_.run(std::move(work));
}

Task<ExportRow> ExportStore::get(std::string name) {
  auto work = [this, name](pqxx::work& tx) { return stored(tx, cipher_, name); };
  co_return co_await database_.run(std::move(work));
}

Task<void> ExportStore::remove(std::string name, ChangeTrail trail) {
  auto work = [this, name, trail](pqxx::work& tx) {
    const ExportRow before = stored(tx, cipher_, name);
    export_rows::remove(tx, name);
    if (trail) trail(tx, trace_of(before), nullptr);
  };
  co_await database_.run(std::move(work));
}

Task<std::vector<DeadLetter>> ExportStore::dead_letters(std::string name, int64_t after,
                                                        int64_t limit) {
  auto work = [this, name, after, limit](pqxx::work& tx) {
    stored(tx, cipher_, name);
    return export_rows::read_dead_letters(tx, name, after, limit);
  };
  co_return co_await database_.run(std::move(work));
}

Task<size_t> ExportStore::retry(std::string name, std::vector<std::string> events) {
  auto work = [this, name, events](pqxx::work& tx) {
    stored(tx, cipher_, name);
    return export_rows::retry(tx, name, events);
  };
  co_return co_await database_.run(std::move(work));
}

}  // namespace sandgate
