#pragma once
#include <string_view>
#include <vector>

#include "gateway/placement/candidate.hpp"
#include "gateway/placement/requirements.hpp"

namespace sandgate {

// Scores and ranks eligible candidates and sorts: eligible ones by rank, then the others by name.
// Deterministic: `seed`, the request's id, decides weighted draws and exploration. Ties: health,
// then name.
//  cheapest: expected price, then vendor cost; last, unknown prices, those in several currencies,
//            and currencies other than the most common one. What is free is so in every currency.
//  fastest:  expected milliseconds (p50 with a penalty for failures); those within a quarter of
//            the fastest share the load; one request in twenty tries unmeasured deployments.
//  priority: position in `order`; the others after it.
//  weighted: a draw by the profile's weights, else the deployments' own.
void rank(const Requirements& requirements, std::string_view seed,
          std::vector<Candidate>& candidates);

}  // namespace sandgate
