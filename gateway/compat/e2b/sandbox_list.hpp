#pragma once
#include "gateway/http/request.hpp"
#include "gateway/http/response.hpp"
#include "gateway/sandboxes/store.hpp"

namespace sandgate::compat::e2b {

// What a list asks for: ?metadata, ?state, ?limit, ?nextToken, ?template. Throws Error(invalid).
struct ListRequest {
  sandbox_rows::Filter filter;  // with one row more than is shown
  size_t limit = 100;
};
ListRequest list_request_from(const http::Request& request);

// The page, with X-Next-Token when another follows.
http::Response list_answer(const std::vector<SandboxRecord>& rows, size_t limit,
                           const std::string& domain);

// ?limit and ?nextToken with the names that pages of our own lists have. Throws Error(invalid).
http::Query page_query_of(const http::Query& query);

// "run%3D42" as a filter: clients encode keys and values once more than the query itself.
std::map<std::string, std::string> metadata_from(std::string_view text);

}  // namespace sandgate::compat::e2b
