#pragma once
#include <optional>
#include <string>
#include <vector>

#include <pqxx/pqxx>

#include "gateway/core/crypto.hpp"
#include "gateway/exports/export_catalog.hpp"

// Exports as rows. Everything here runs in a transaction of the caller's.
namespace sandgate {

struct ExportRow {
  std::string name, kind;
  Json settings;
  ExportSecrets secrets;
  bool enabled = true;
  int64_t cursor = 0, sent = 0, version = 0;
  int failures = 0;
  std::string error;  // why the last try failed; empty: it did not
  bool sealed_away = false;  // under another master key: its secrets are not here
  Time next_try_at, created_at, updated_at;
  int64_t dead_letters = 0;
};
// Without the secrets' values.
Json to_json(const ExportRow& row);

struct DeadLetter {
  std::string event, reason;
  int64_t sequence = 0;
  bool retry = false;
  Time at;
};
Json to_json(const DeadLetter& letter);

namespace export_rows {

std::vector<ExportRow> read(pqxx::work& tx, const Vault& vault,
                            const std::optional<std::string>& name);  // by name
// Inserts, or replaces kind, settings, secrets and enabled; what failed is tried again at once.
void write(pqxx::work& tx, const Vault& vault, const ExportRow& row);
bool remove(pqxx::work& tx, const std::string& name);

// Names of those that are enabled, due and not worked on by another replica.
std::vector<std::string> due(pqxx::work& tx);
// Leases one for longer than a round takes; empty when somebody else was faster.
std::optional<ExportRow> take(pqxx::work& tx, const Vault& vault, const std::string& name);
// What a round came to; gives the lease back.
struct Round {
  int64_t cursor = 0, sent = 0;
  std::string error;
  std::optional<std::chrono::seconds> wait;  // until the next try; empty: none
};
void finish(pqxx::work& tx, const ExportRow& row, const Round& round);

void bury(pqxx::work& tx, const std::string& name, const ExportEvent& event,
          const std::string& reason);
void unbury(pqxx::work& tx, const std::string& name, const ExportEvent& event);
std::vector<DeadLetter> read_dead(pqxx::work& tx, const std::string& name, int64_t after,
                                  int64_t limit);
// All of an export's, or those of the given events. Returns how many.
size_t retry(pqxx::work& tx, const std::string& name, const std::vector<std::string>& events);

}  // namespace export_rows
}  // namespace sandgate
