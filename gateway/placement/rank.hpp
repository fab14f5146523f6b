#pragma once
#include <string_view>
#include <vector>

#include "gateway/placement/candidate.hpp"
#include "gateway/placement/requirements.hpp"

namespace sandgate {

// Gives eligible candidates score and rank, and sorts: eligible ones by rank, then the others by
// name. Depends on nothing but its arguments; `seed` (the request's id) decides weighted draws and
// exploration. Ties: health, then name.
//  cheapest: expected price; last come unknown ones and those in another currency than most.
//  fastest:  expected milliseconds (p50 with a penalty for failures); those within a quarter of
//            the fastest share the load; one request in twenty tries a deployment never measured.
//  priority: place in `order`; the others after it.
//  weighted: a draw by the profile's weights, else the deployments' own.
void rank(const Requirements& requirements, std::string_view seed,
          std::vector<Candidate>& candidates);

}  // namespace sandgate
