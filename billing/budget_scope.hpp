#pragma once
#include <map>
#include <optional>
#include <string>

#include "gateway/core/json_reader.hpp"

namespace sandgate {

// What a sandbox is to the budgets of its tenant.
struct BudgetSubject {
  std::string profile;
  std::string key;  // id of the key that created it; empty when it is not known
  std::map<std::string, std::string> metadata;
};
Json to_json(const BudgetSubject& subject);
BudgetSubject budget_subject_from(const Json& stored);

// Which of a tenant's sandboxes a budget holds for: those that are all of what is named here;
// nothing named: every one.
struct BudgetScope {
  std::optional<std::string> profile, key;
  std::map<std::string, std::string> metadata;

  bool is_everything() const { return !profile && !key && metadata.empty(); }
  bool holds_for(const BudgetSubject& subject) const;
};
// Reads a member `applies_to`; absent: everything.
BudgetScope read_budget_scope(ObjectReader& reader, Problems& problems);
Json to_json(const BudgetScope& scope);
BudgetScope budget_scope_from(const Json& stored);

}  // namespace sandgate
