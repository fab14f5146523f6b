#pragma once
#include "billing/invoices/invoices.hpp"
#include "billing/usage/usage_reader.hpp"
#include "gateway/http/routes.hpp"

namespace sandgate::api {

// /v1/invoices. Tenants draft and read their own; operators issue and credit them.
class InvoiceHandlers {
 public:
  // `issuer`: see to_html().
  InvoiceHandlers(Invoices& invoices, UsageReader& usage, std::string issuer = "")
      : invoices_(invoices), usage_(usage), issuer_(std::move(issuer)) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> create(http::Request& request);
  Task<http::Response> list(http::Request& request);
  Task<http::Response> get(http::Request& request);  // {id}, {id}.csv or {id}.html
  Task<http::Response> issue(http::Request& request);
  Task<http::Response> credit(http::Request& request);  // operators only

 private:
  // Throws Error(not_found) for another tenant's invoice.
  Task<Invoice> own(const http::Request& request, InvoiceId id);

  Invoices& invoices_;
  UsageReader& usage_;
  const std::string issuer_;
};

}  // namespace sandgate::api
