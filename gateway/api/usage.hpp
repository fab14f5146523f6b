#pragma once
#include "billing/usage_reader.hpp"
#include "gateway/http/routes.hpp"

namespace sandgate::api {

// /v1/usage. A tenant sees its own; an operator all, or one it names.
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
