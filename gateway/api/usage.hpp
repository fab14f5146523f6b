#pragma once
#include "billing/usage/usage_reader.hpp"
#include "gateway/http/routes.hpp"

namespace sandgate::api {

// /v1/usage and …/export. A tenant sees its own usage; an operator sees all, or one tenant's.
class UsageHandlers {
 public:
  UsageHandlers(Database& database, UsageReader& reader) : database_(database), reader_(reader) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> read(http::Request& request);
  Task<http::Response> export_events(http::Request& request);  // streamed, page by page

 private:
  Database& database_;
  UsageReader& reader_;
};

}  // namespace sandgate::api
