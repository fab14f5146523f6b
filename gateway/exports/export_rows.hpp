#pragma once
#include <optional>
#include <string>
#include <vector>

#include <pqxx/pqxx>

#include "gateway/core/crypto.hpp"
#include "gateway/exports/export_catalog.hpp"

// SQL statements on exports. All functions run in the caller's transaction.
namespace sandgate {

struct ExportRow {
  std::string name, kind;
  Json settings;
  ExportSecrets secrets;
  bool enabled = true;
  int64_t cursor = 0;  // sequence up to which events are settled
  int64_t sent = 0;  // events accepted
  int64_t version = 0;  // counts changes of the settings
  int failures = 0;  // rounds in a row that had to stop, since the receiver last took an event
  std::string error;  // of the last round; empty: it succeeded
  bool sealed_by_other_key = false;  // secrets unreadable: sealed under another master key
  Time next_try_at, created_at, updated_at;
  int64_t dead_letters = 0;
};
// Without the values of secrets.
Json to_json(const ExportRow& row);

// An event that the receiver refused for good.
struct DeadLetter {
  std::string event, reason;
  int64_t sequence = 0;
  bool retry = false;  // is sent again in the next round
  Time at;  // of the refusal
};
Json to_json(const DeadLetter& letter);

namespace export_rows {

std::vector<ExportRow> read(pqxx::work& tx, const Cipher& cipher,
                            const std::optional<std::string>& name);  // by name
// Inserts an export, or replaces kind, settings, secrets and enabled, and ends any back-off.
void write(pqxx::work& tx, const Cipher& cipher, const ExportRow& row);
bool remove(pqxx::work& tx, const std::string& name);

// Names of enabled exports that are due and not leased; first those that have waited longest.
std::vector<std::string> due(pqxx::work& tx);
// Leases an export; empty when it is not due or leased.
std::optional<ExportRow> take(pqxx::work& tx, const Cipher& cipher, const std::string& name,
                              std::chrono::milliseconds lease);
// The result of a round.
struct Round {
  int64_t cursor = 0, sent = 0;
  std::string error;  // why it had to stop; empty: it did not
  int failures = 0;  // rounds in a row that had to stop, since the receiver last took an event
  std::optional<std::chrono::seconds> wait;  // until the next try; empty: at once
};
// These five have no effect on another export that was created meanwhile under the same name.
// Extends a lease that is not over.
void renew(pqxx::work& tx, const ExportRow& row, std::chrono::milliseconds lease);
// Writes the result and ends the lease.
void finish(pqxx::work& tx, const ExportRow& row, const Round& round);
// Also says the newer reason of an event that is a dead letter already, and ends its retry.
void add_dead_letter(pqxx::work& tx, const ExportRow& row, const ExportEvent& event,
                     const std::string& reason);
void remove_dead_letter(pqxx::work& tx, const ExportRow& row, const ExportEvent& event);
// Adds retried dead letters to `sent`; finish() adds the others.
void count_sent(pqxx::work& tx, const ExportRow& row, size_t count);
std::vector<DeadLetter> read_dead_letters(pqxx::work& tx, const std::string& name, int64_t after,
                                          int64_t limit);
// Marks dead letters for retry: those of the given events, or all if empty. Returns how many.
size_t retry(pqxx::work& tx, const std::string& name, const std::vector<std::string>& events);

}  // namespace export_rows
}  // namespace sandgate
