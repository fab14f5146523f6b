#include "gateway/exports/export_rows.hpp"

#include "billing/sql_array.hpp"
#include "registry/sql.hpp"

namespace sandgate {
namespace {

constexpr const char* kExportColumns =
    "name, kind, settings, secrets, enabled, cursor, sent, version, failures, error, next_try_at,"
    " created_at, updated_at,"
    " (SELECT count(*) FROM export_dead_letter WHERE export = name) AS dead_letters ";

std::string sealed_in(const std::string& name) { return "export/" + name; }

ExportSecrets opened_secrets(const pqxx::row& row, const Cipher& cipher, const std::string& name) {
  const Secret text = cipher.open(pqxx::binarystring(row["secrets"]).str(), sealed_in(name));
  ExportSecrets secrets;
  const Json document = Json::parse(text.reveal());
  for (const auto& [member, value] : document.items())
    secrets.emplace(member, Secret(value.get<std::string>()));
  return secrets;
}

ExportRow export_from(const pqxx::row& row, const Cipher& cipher) {
  ExportRow result{.name = row["name"].as<std::string>(),
                   .kind = row["kind"].as<std::string>(),
                   .settings = Json::parse(row["settings"].c_str()),
                   .enabled = row["enabled"].as<bool>(),
                   .cursor = row["cursor"].as<int64_t>(),
                   .sent = row["sent"].as<int64_t>(),
                   .version = row["version"].as<int64_t>(),
                   .failures = row["failures"].as<int>(),
                   .error = row["error"].as<std::string>(),
                   .next_try_at = time_of(row["next_try_at"]),
                   .created_at = time_of(row["created_at"]),
                   .updated_at = time_of(row["updated_at"]),
                   .dead_letters = row["dead_letters"].as<int64_t>()};
  try {
    result.secrets = opened_secrets(row, cipher, result.name);
  } catch (const Error&) {
    // The export is still listed, so that its secrets can be set again.
    result.sealed_by_other_key = true;
    result.error = "its secrets are sealed under another master key: set them again";
  }
  return result;
}

Json names_of(const ExportSecrets& secrets) {
  Json names = Json::array();
  for (const auto& [name, value] : secrets) names.push_back(name);
  return names;
}

}  // namespace

Json to_json(const ExportRow& row) {
  return {{"name", row.name},
          {"kind", row.kind},
          {"settings", row.settings},
          {"secret_names", names_of(row.secrets)},
          {"enabled", row.enabled},
          {"cursor", std::to_string(row.cursor)},
          {"sent", row.sent},
          {"dead_letters", row.dead_letters},
          {"failures", row.failures},
          {"error", row.error.empty() ? Json() : Json(row.error)},
          {"next_try_at", row.failures > 0 ? Json(to_rfc3339(row.next_try_at)) : Json()},
          {"created_at", to_rfc3339(row.created_at)},
          {"updated_at", to_rfc3339(row.updated_at)}};
}

Json to_json(const DeadLetter& letter) {
  return {{"event", letter.event},
          {"sequence", std::to_string(letter.sequence)},
          {"reason", letter.reason},
          {"retry", letter.retry},
          {"at", to_rfc3339(letter.at)}};
}

namespace export_rows {

std::vector<ExportRow> read(pqxx::work& tx, const Cipher& cipher,
                            const std::optional<std::string>& name) {
  std::vector<ExportRow> found;
  for (const auto& row : tx.exec_params("SELECT " + std::string(kExportColumns) +
                                            "FROM export WHERE $1::text IS NULL OR name = $1"
                                            " ORDER BY name",
                                        name))
    found.push_back(export_from(row, cipher));
  return found;
}

void write(pqxx::work& tx, const Cipher& cipher, const ExportRow& row) {
  Json document = Json::object();
  for (const auto& [name, value] : row.secrets) document[name] = value.reveal();
  const std::string secrets = cipher.seal(Secret(document.dump()), sealed_in(row.name));
  tx.exec_params(
      "INSERT INTO export AS e (name, kind, settings, secrets, secret_names, enabled, cursor)"
      " VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (name) DO UPDATE SET"
      " kind = excluded.kind, settings = excluded.settings, secrets = excluded.secrets,"
      " secret_names = excluded.secret_names, enabled = excluded.enabled, failures = 0,"
      " error = '', next_try_at = now(), version = e.version + 1, updated_at = now()",
      row.name, row.kind, row.settings.dump(), pqxx::binarystring(secrets),
      names_of(row.secrets).dump(), row.enabled, row.cursor);
}

bool remove(pqxx::work& tx, const std::string& name) {
  return tx.exec_params("DELETE FROM export WHERE name = $1", name).affected_rows() > 0;
}

std::vector<std::string> due(pqxx::work& tx) {
  std::vector<std::string> names;
  for (const auto& row : tx.exec("SELECT name FROM export WHERE enabled AND next_try_at <= now()"
                                 " AND lease_until <= now() ORDER BY next_try_at, name"))
    names.push_back(row[0].as<std::string>());
  return names;
}

std::optional<ExportRow> take(pqxx::work& tx, const Cipher& cipher, const std::string& name,
                              std::chrono::milliseconds lease) {
  const auto rows = tx.exec_params(
      "UPDATE export SET lease_until = now() + $2 * interval '1 ms' WHERE name = $1"
      " AND enabled AND next_try_at <= now() AND lease_until <= now() RETURNING " +
          std::string(kExportColumns),
      name, lease.count());
  if (rows.empty()) return std::nullopt;
  return export_from(rows[0], cipher);
}

void renew(pqxx::work& tx, const ExportRow& row, std::chrono::milliseconds lease) {
  // The time is that after a wait for finish(), whose end of the lease stays.
  tx.exec_params(
      "UPDATE export SET lease_until = clock_timestamp() + $2 * interval '1 ms' WHERE name = $1"
      " AND created_at = $3::timestamptz AND lease_until > clock_timestamp()",
      row.name, lease.count(), to_rfc3339(row.created_at));
}

void finish(pqxx::work& tx, const ExportRow& row, const Round& round) {
  const int64_t wait = round.wait.value_or(std::chrono::seconds(0)).count();
  // Settings that changed meanwhile are tried at once; deliveries of this round count all the same.
  tx.exec_params(
      "UPDATE export SET cursor = greatest(cursor, $2), sent = sent + $3, lease_until = now(),"
      " failures = CASE WHEN version <> $4 THEN 0 ELSE $5 END,"
      " error = CASE WHEN version <> $4 THEN '' ELSE $6 END,"
      " next_try_at = CASE WHEN version <> $4 THEN now() ELSE now() + make_interval(secs => $7) END"
      " WHERE name = $1 AND created_at = $8::timestamptz",
      row.name, round.cursor, round.sent, row.version, round.failures, round.error, wait,
      to_rfc3339(row.created_at));
}

void add_dead_letter(pqxx::work& tx, const ExportRow& row, const ExportEvent& event,
                     const std::string& reason) {
  tx.exec_params(
      "INSERT INTO export_dead_letter (export, event, interval_start, sequence, reason)"
      " SELECT name, $2, $3::timestamptz, $4, $5 FROM export WHERE name = $1"
      " AND created_at = $6::timestamptz ON CONFLICT (export, event) DO UPDATE SET reason = "
      "excluded.reason, retry = false,"
      " at = now()",
      row.name, event.row.id, to_rfc3339(event.row.interval_start), event.sequence, reason,
      to_rfc3339(row.created_at));
}

void count_sent(pqxx::work& tx, const ExportRow& row, size_t count) {
  tx.exec_params(
      "UPDATE export SET sent = sent + $2 WHERE name = $1 AND created_at = $3::timestamptz",
      row.name, count, to_rfc3339(row.created_at));
}

void remove_dead_letter(pqxx::work& tx, const ExportRow& row, const ExportEvent& event) {
  tx.exec_params(
      "DELETE FROM export_dead_letter USING export WHERE export = name AND name = $1"
      " AND event = $2 AND created_at = $3::timestamptz",
      row.name, event.row.id, to_rfc3339(row.created_at));
}

std::vector<DeadLetter> read_dead_letters(pqxx::work& tx, const std::string& name, int64_t after,
                                          int64_t limit) {
  std::vector<DeadLetter> letters;
  for (const auto& row :
       tx.exec_params("SELECT event, reason, sequence, retry, at FROM export_dead_letter"
                      " WHERE export = $1 AND sequence > $2 ORDER BY sequence LIMIT $3",
                      name, after, limit))
    letters.push_back({.event = row["event"].as<std::string>(),
                       .reason = row["reason"].as<std::string>(),
                       .sequence = row["sequence"].as<int64_t>(),
                       .retry = row["retry"].as<bool>(),
                       .at = time_of(row["at"])});
  return letters;
}

size_t retry(pqxx::work& tx, const std::string& name, const std::vector<std::string>& events) {
  tx.exec_params("UPDATE export SET next_try_at = now() WHERE name = $1", name);
  return tx
      .exec_params(
          "UPDATE export_dead_letter SET retry = true WHERE export = $1"
          " AND (cardinality($2::text[]) = 0 OR event::text = ANY ($2::text[]))",
          name, sql_array_of(events))
      .affected_rows();
}

}  // namespace export_rows
}  // namespace sandgate
