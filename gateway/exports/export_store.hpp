#pragma once
#include "billing/change_trail.hpp"
#include "gateway/core/database.hpp"
#include "gateway/exports/export_rows.hpp"

namespace sandgate {

// Exports as the operator sets them; secrets are sealed and never shown.
class ExportStore {
 public:
  ExportStore(Database& database, const Vault& vault) : database_(database), vault_(vault) {}

  struct Draft {
    std::string name, kind;
    Json settings;
    std::optional<ExportSecrets> secrets;  // empty: keeps those that are stored
    bool enabled = true;
    // Where a new export begins: usage from this moment on; empty: what is booked from now on.
    std::optional<Time> since;
  };
  // Throws Error(invalid) with every problem, conflict when `kind` differs from the stored one.
  Task<ExportRow> put(Draft draft, ChangeTrail trail);
  Task<std::vector<ExportRow>> list();  // by name
  Task<ExportRow> get(std::string name);  // throws Error(not_found)
  Task<void> remove(std::string name, ChangeTrail trail);  // throws Error(not_found)

  // By order of booking; `after` is the last sequence seen. Throws Error(not_found).
  Task<std::vector<DeadLetter>> dead_letters(std::string name, int64_t after, int64_t limit);
  // Puts dead letters in line again, all or the given events'. Returns how many.
  Task<size_t> retry(std::string name, std::vector<std::string> events);

 private:
  Database& database_;
  const Vault& vault_;
};

}  // namespace sandgate
