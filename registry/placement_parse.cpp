#include "registry/placement_parse.hpp"

#include "registry/document_fields.hpp"

namespace sandgate {
namespace {

constexpr int64_t kMaxWeight = 10'000;
constexpr size_t kMaxWeights = 256;

void read_weights(ObjectReader& parent, Problems& problems, PlacementPolicy& placement) {
  const Json* object = parent.object("weights");
  if (!object) return;
  if (object->size() > kMaxWeights) return parent.problem("weights", "has too many members");
  ObjectReader reader(*object, problems, parent.path_of("weights"));
  for (const auto& [name, unused] : object->items()) {
    if (!is_name(name)) reader.problem(name, "is not a deployment's name");
    if (const auto weight = reader.integer(name, 0, kMaxWeight)) placement.weights[name] = *weight;
  }
}

void read_fallback(ObjectReader& parent, Problems& problems, Fallback& fallback) {
  const Json* object = parent.object("fallback");
  if (!object) return;
  ObjectReader reader(*object, problems, parent.path_of("fallback"));
  fallback.attempts = reader.integer("attempts", 1, 30).value_or(fallback.attempts);
  fallback.deadline_ms = reader.integer("deadline_ms", 100, 600'000).value_or(fallback.deadline_ms);
  fallback.hedge_after_ms =
      reader.integer("hedge_after_ms", 0, 600'000).value_or(fallback.hedge_after_ms);
  reader.finish();
}

void check_strategy(const PlacementPolicy& placement, ObjectReader& reader) {
  if (placement.strategy == Strategy::priority && placement.order.empty())
    reader.problem("order", "is required by strategy priority");
  if (placement.strategy != Strategy::weighted) {
    if (!placement.weights.empty())
      reader.problem("weights", "has no meaning without strategy weighted");
    return;
  }
  // Without weights here, the deployments' own count.
  const bool all_zero = std::all_of(placement.weights.begin(), placement.weights.end(),
                                    [](const auto& weight) { return weight.second == 0; });
  if (all_zero && !placement.weights.empty())
    reader.problem("weights", "must have a weight above 0 for strategy weighted");
}

}  // namespace

PlacementPolicy parse_placement(const Json& document, Problems& problems, const std::string& path) {
  PlacementPolicy placement;
  ObjectReader reader(document, problems, path);
  placement.strategy = reader.word("strategy", kStrategyWords).value_or(placement.strategy);
  const auto list = [&](std::string_view name) {
    return read_names(reader, name).value_or(std::vector<std::string>{});
  };
  placement.order = list("order");
  placement.only = list("only");
  placement.exclude = list("exclude");
  placement.regions = list("regions");
  read_weights(reader, problems, placement);
  placement.max_cost_per_hour = read_price(reader, "max_cost_per_hour");
  read_fallback(reader, problems, placement.fallback);
  check_strategy(placement, reader);
  reader.finish();
  return placement;
}

}  // namespace sandgate
