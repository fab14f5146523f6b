#pragma once
#include "gateway/exports/export_store.hpp"
#include "gateway/http/routes.hpp"

namespace sandgate::api {

// /v1/exports: destinations that usage is exported to. Operators only.
class ExportHandlers {
 public:
  explicit ExportHandlers(ExportStore& exports) : exports_(exports) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> list(http::Request& request);
  Task<http::Response> get(http::Request& request);
  Task<http::Response> put(http::Request& request);
  Task<http::Response> remove(http::Request& request);
  Task<http::Response> dead_letters(http::Request& request);
  Task<http::Response> retry(http::Request& request);

 private:
  ExportStore& exports_;
};

}  // namespace sandgate::api
