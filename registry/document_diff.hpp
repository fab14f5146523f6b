#pragma once
#include <string>
#include <vector>

#include "gateway/core/json_reader.hpp"

namespace sandgate {

// One place where two documents differ; null stands for an absent value.
struct Difference {
  std::string path;  // JSON Pointer
  Json from, to;
  bool operator==(const Difference&) const = default;
};

// Objects are compared member by member, everything else (arrays too) as a whole. Pure; sorted by
// path.
std::vector<Difference> diff(const Json& from, const Json& to);

Json to_json(const Difference& difference);

}  // namespace sandgate
