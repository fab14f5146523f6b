#pragma once
#include "gateway/api/snapshots.hpp"

namespace sandgate::compat::e2b {

// Snapshots, which E2B's clients use as templates for sandboxes.
class Templates {
 public:
  explicit Templates(api::SnapshotHandlers& snapshots) : snapshots_(snapshots) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> create(http::Request& request);
  Task<http::Response> list(http::Request& request);
  Task<http::Response> remove(http::Request& request);

 private:
  api::SnapshotHandlers& snapshots_;
};

}  // namespace sandgate::compat::e2b
