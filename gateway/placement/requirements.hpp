#pragma once
#include <map>
#include <set>
#include <string>

#include "gateway/core/ids.hpp"
#include "registry/tighten.hpp"

namespace sandgate {

// What one create demands of a backend, as data.
struct Requirements {
  TenantId tenant;
  Isolation isolation = Isolation::container;  // at least
  Persistence persistence = Persistence::ephemeral;  // at least
  std::map<Verb, Keeps> verbs;  // with the least state each has to keep
  std::set<Control> controls;
  std::string workspace;  // the directory of the host that is shown inside; empty: none
  Resources resources;
  int64_t ttl_seconds = 0;
  std::string image;  // neutral name
  std::map<std::string, std::string> images;  // provider -> its word
  bool snapshot = false;  // a restore: only where the snapshot is
  std::string snapshot_deployment;  // where; empty: nobody knows
  PlacementPolicy placement;
};

Requirements requirements_of(const EffectiveRequest& request, const TenantId& tenant);
Json to_json(const Requirements& requirements);

// The provider's word for the image; empty when it has none.
std::string image_for(const Requirements& requirements, const std::string& provider,
                      const Descriptor& descriptor);

}  // namespace sandgate
