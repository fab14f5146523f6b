#include "billing/budgets/budget_scope.hpp"

#include <algorithm>

#include "gateway/core/ids.hpp"

namespace sandgate {
namespace {

constexpr size_t kMaxMetadata = 16;
constexpr std::string_view kMember = "applies_to";

std::map<std::string, std::string> texts_of(const Json& stored) {
  return stored.value("metadata", Json::object()).get<std::map<std::string, std::string>>();
}

bool names_nothing(const Json& object) {
  return std::all_of(object.begin(), object.end(), [](const Json& item) { return item.is_null(); });
}

}  // namespace

Json to_json(const BudgetSubject& subject) {
  return {{"profile", subject.profile}, {"key", subject.key}, {"metadata", subject.metadata}};
}

BudgetSubject budget_subject_from(const Json& stored) {
  return {.profile = stored.value("profile", ""),
          .key = stored.value("key", ""),
          .metadata = texts_of(stored)};
}

bool BudgetScope::holds_for(const BudgetSubject& subject) const {
  if (profile && *profile != subject.profile) return false;
  if (key && *key != subject.key) return false;
  return std::all_of(metadata.begin(), metadata.end(), [&](const auto& wanted) {
    const auto found = subject.metadata.find(wanted.first);
    return found != subject.metadata.end() && found->second == wanted.second;
  });
}

BudgetScope read_budget_scope(ObjectReader& reader, Problems& problems) {
  BudgetScope scope;
  const Json* member = reader.object(kMember);
  if (!member) return scope;
  ObjectReader inner(*member, problems, reader.path_of(kMember));
  scope.profile = inner.text("profile", {.min = 1, .max = 128});
  scope.key = inner.text("key", {.min = 1, .max = 64});
  if (scope.key && !KeyId::parse(*scope.key)) inner.problem("key", "is not a key's id");
  scope.metadata =
      inner.text_map("metadata", kMaxMetadata).value_or(std::map<std::string, std::string>());
  inner.finish();
  if (names_nothing(*member))
    reader.problem(kMember, "must name a profile, a key or metadata; left out it is everything");
  if (inner.has("metadata") && names_nothing((*member)["metadata"]))
    inner.problem("metadata", "must have at least one member");
  return scope;
}

Json to_json(const BudgetScope& scope) {
  Json json = Json::object();
  if (scope.profile) json["profile"] = *scope.profile;
  if (scope.key) json["key"] = *scope.key;
  if (!scope.metadata.empty()) json["metadata"] = scope.metadata;
  return json;
}

BudgetScope budget_scope_from(const Json& stored) {
  BudgetScope scope{.metadata = texts_of(stored)};
  if (stored.contains("profile")) scope.profile = stored["profile"].get<std::string>();
  if (stored.contains("key")) scope.key = stored["key"].get<std::string>();
  return scope;
}

}  // namespace sandgate
