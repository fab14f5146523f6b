#pragma once
#include "billing/prices/price_books.hpp"
#include "billing/usage/usage_reader.hpp"
#include "gateway/http/routes.hpp"

namespace sandgate::api {

// /v1/prices. Operators publish; tenants read shared books and their own.
class PriceHandlers {
 public:
  PriceHandlers(PriceBooks& books, Database& database, UsageReader& usage, const Clock& clock)
      : books_(books), database_(database), usage_(usage), clock_(clock) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> list(http::Request& request);  // of every book: in force, and future
  Task<http::Response> get(http::Request& request);  // all versions of one book, oldest first
  Task<http::Response> publish(http::Request& request);
  // What a draft version would have charged for the usage booked in a time (?period, or ?from and
  // ?to; default: last month), which is all of what has ended.
  Task<http::Response> preview(http::Request& request);

 private:
  PriceBooks& books_;
  Database& database_;
  UsageReader& usage_;
  const Clock& clock_;
};

}  // namespace sandgate::api
