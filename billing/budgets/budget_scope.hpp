#pragma once
#include <map>
#include <optional>
#include <string>

#include "gateway/core/json_reader.hpp"

namespace sandgate {

// The attributes of a sandbox by which budgets select it.
struct BudgetSubject {
  std::string profile;
  std::string key;  // id of the API key that created it; empty when unknown
  std::map<std::string, std::string> metadata;
};
Json to_json(const BudgetSubject& subject);
BudgetSubject budget_subject_from(const Json& stored);

// Selects the sandboxes of a tenant that a budget applies to: those that match every field that is
// set, or all when none is set.
struct BudgetScope {
  std::optional<std::string> profile, key;
  std::map<std::string, std::string> metadata;

  bool is_everything() const { return !profile && !key && metadata.empty(); }
  bool holds_for(const BudgetSubject& subject) const;
};
// Reads the member `applies_to`; when it is absent, the scope is everything.
BudgetScope read_budget_scope(ObjectReader& reader, Problems& problems);
Json to_json(const BudgetScope& scope);
BudgetScope budget_scope_from(const Json& stored);

}  // namespace sandgate
