#pragma once
#include <map>
#include <set>
#include <string>

#include "gateway/core/ids.hpp"
#include "registry/effective_request.hpp"

namespace sandgate {

// What one create requires of a backend.
struct Requirements {
  TenantId tenant;
  Isolation isolation = Isolation::container;  // at least this
  Persistence persistence = Persistence::ephemeral;  // at least this
  std::map<Verb, Keeps> verbs;  // with the least state that each has to preserve
  std::set<Control> controls;
  std::string workspace;  // host directory to show inside; empty: none
  Resources resources;
  int64_t ttl_seconds = 0;
  EndAction on_expiry = EndAction::kill;
  std::string image;  // vendor-neutral name
  std::map<std::string, std::string> images;  // by provider, its own name
  bool snapshot = false;  // a restore, only where the snapshot is
  std::string snapshot_deployment;  // empty: unknown
  PlacementPolicy placement;
};

Requirements requirements_of(const EffectiveRequest& request, const TenantId& tenant);
Json to_json(const Requirements& requirements);

// The provider's name for the image; empty when it has none.
std::string image_for(const Requirements& requirements, const std::string& provider,
                      const Descriptor& descriptor);

// The region to ask a backend for: the first that the requirements allow of those it offers. Empty
// when they allow any.
std::string region_for(const Requirements& requirements, const Descriptor& descriptor);

}  // namespace sandgate
