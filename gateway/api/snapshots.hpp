#pragma once
#include "gateway/http/routes.hpp"
#include "gateway/sandboxes/creating/create_order.hpp"
#include "gateway/sandboxes/snapshots.hpp"
#include "registry/profile_resolver.hpp"

namespace sandgate::api {

// /v1/sandboxes/{id}/snapshots, /v1/sandboxes/{id}/fork and /v1/snapshots.
class SnapshotHandlers {
 public:
  SnapshotHandlers(Lifecycle& lifecycle, ProfileResolver& profiles)
      : lifecycle_(lifecycle), snapshots_(lifecycle), profiles_(profiles) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> create(http::Request& request);
  Task<http::Response> list(http::Request& request);
  Task<http::Response> get(http::Request& request);
  Task<http::Response> remove(http::Request& request);
  Task<http::Response> fork(http::Request& request);

 private:
  // An order like the one that created the sandbox.
  Task<CreateOrder> order_like(SandboxRecord source, std::string request_id);
  Task<Json> copies_of_earlier(const http::Request& request, size_t count);

  Lifecycle& lifecycle_;
  Snapshots snapshots_;
  ProfileResolver& profiles_;
};

}  // namespace sandgate::api
