#include "registry/document_diff.hpp"

namespace sandgate {
namespace {

void compare(const std::string& path, const Json& from, const Json& to,
             std::vector<Difference>& found) {
  if (from == to) return;
  if (!from.is_object() || !to.is_object()) {
    found.push_back({path, from, to});
    return;
  }
  std::set<std::string> names;
  for (const auto* side : {&from, &to})
    for (const auto& [name, unused] : side->items()) names.insert(name);
  for (const auto& name : names)
    compare(path + "/" + pointer_token(name), from.value(name, Json()), to.value(name, Json()),
            found);
}

}  // namespace

std::vector<Difference> diff(const Json& from, const Json& to) {
  std::vector<Difference> found;
  compare("", from, to, found);
  return found;
}

Json to_json(const Difference& difference) {
  return {{"path", difference.path}, {"from", difference.from}, {"to", difference.to}};
}

}  // namespace sandgate
