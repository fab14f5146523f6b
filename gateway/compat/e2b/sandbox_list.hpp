#pragma once
#include "gateway/http/request.hpp"
#include "gateway/http/response.hpp"
#include "gateway/sandboxes/rows/sandbox_rows.hpp"

namespace sandgate::compat::e2b {

// A parsed list request: ?metadata, ?state, ?limit, ?nextToken, ?template, ?order, ?startedAfter.
// Throws Error(invalid).
struct ListRequest {
  sandbox_rows::Filter filter;  // fetches one row more than the limit
  size_t limit = 100;
};
ListRequest list_request_from(const http::Request& request);

// What was found for a request.
struct Listed {
  std::vector<SandboxRecord> rows;  // of the page
  std::optional<int64_t> running;  // on all pages; empty: not asked for
};
Listed find_listed(pqxx::work& tx, const ListRequest& asked);

// Renders a page, with X-Total-Running, and X-Next-Token if another follows.
http::Response list_answer(const Listed& found, const ListRequest& asked,
                           const std::string& domain);

// Renames ?limit and ?nextToken to the parameters of our own lists. Throws Error(invalid).
http::Query page_query_of(const http::Query& query);

// Parses "run%3D42" as a filter: clients percent-encode keys and values twice.
std::map<std::string, std::string> metadata_from(std::string_view text);

}  // namespace sandgate::compat::e2b
