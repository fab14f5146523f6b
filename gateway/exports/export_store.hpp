#pragma once
#include "billing/change_trail.hpp"
#include "gateway/core/database.hpp"
#include "gateway/exports/export_rows.hpp"

namespace sandgate {

// The operator's export configuration; secrets are sealed and never returned.
class ExportStore {
 public:
  ExportStore(Database& database, const Cipher& cipher) : database_(database), cipher_(cipher) {}

  struct Draft {
    std::string name, kind;
    Json settings;
    std::optional<ExportSecrets> secrets;  // empty: keeps the stored ones, for the same address
    bool enabled = true;
    // A new export begins with usage from `since`; empty: with what is booked from now on.
    std::optional<Time> since;
  };
  // Throws Error(invalid) with every problem, and conflict when `kind` differs from the stored one.
  Task<ExportRow> put(Draft draft, ChangeTrail trail);
  Task<std::vector<ExportRow>> list();  // in order of name
  Task<ExportRow> get(std::string name);  // throws Error(not_found)
  Task<void> remove(std::string name, ChangeTrail trail);  // throws Error(not_found)

  // In order of booking, beginning after the sequence `after`. Throws Error(not_found).
  Task<std::vector<DeadLetter>> dead_letters(std::string name, int64_t after, int64_t limit);
  // Marks dead letters for retry: those of the given events, or all if empty. Returns how many.
  Task<size_t> retry(std::string name, std::vector<std::string> events);

 private:
  // The cursor of a new export that begins with usage from `since`.
  Task<int64_t> cursor_of(Time since);

  Database& database_;
  const Cipher& cipher_;
};

}  // namespace sandgate
