#pragma once
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gateway/core/json_reader.hpp"
#include "gateway/core/time.hpp"
#include "gateway/http/query.hpp"
#include "gateway/http/request.hpp"

// Pagination of all lists: {"items":[…],"next_cursor":null}.
namespace sandgate::api {

// The requested page. `after` is the sort key of the last row already seen, one text per column;
// empty for the first page.
struct PageRequest {
  int64_t limit = 50;
  std::vector<std::string> after;
  std::string list;  // identifies the list; cursors are valid for their own list only

  // One row more than the limit, which shows whether there is a next page.
  int64_t rows_to_fetch() const { return limit + 1; }
  // A part of `after` as a number or time. Throws Error(invalid) if the cursor is malformed.
  int64_t integer_after(size_t part) const;
  Time time_after(size_t part) const;
  // created_at and id of the last row seen of a list with the sort key creation_key(); empty for
  // the first page. Throws as above.
  std::optional<std::pair<Time, std::string>> created_after() const;
};

// Reads ?limit (1..100, default 50) and ?cursor. `parts` is the number of columns of the list's
// sort key. A cursor is valid only for the same route, route parameters and values of the query
// parameters in `filters`; "metadata." stands for all names with that prefix. Throws Error(invalid)
// with path "/limit" or "/cursor".
PageRequest read_page(const http::Request& request, size_t parts,
                      std::initializer_list<std::string_view> filters = {});

// The same for a list that the caller identifies.
PageRequest read_page(const http::Query& query, size_t parts, std::string list);

// Returns an opaque cursor that is safe in URLs, for read_page.
std::string to_cursor(const std::string& list, const std::vector<std::string>& parts);

// The sort key, of two columns, of a list in order of creation.
template <class Row>
std::vector<std::string> creation_key(const Row& row) {
  return {std::to_string(to_micros(row.created_at)), row.id.value};
}

// Renders the rows that rows_to_fetch() asked for, at most `limit` of them. `render(row)` returns
// the item's Json, `key(row)` the row's sort key as texts.
template <class Row, class Render, class Key>
Json page_json(const PageRequest& page, const std::vector<Row>& rows, Render render, Key key) {
  Json items = Json::array();
  const size_t shown = std::min(rows.size(), static_cast<size_t>(page.limit));
  for (size_t i = 0; i < shown; ++i) items.push_back(render(rows[i]));
  Json next;
  if (rows.size() > shown && shown > 0) next = to_cursor(page.list, key(rows[shown - 1]));
  return {{"items", std::move(items)}, {"next_cursor", std::move(next)}};
}

// The same for a complete list in any order, which is sorted by key and cut to the page.
template <class Row, class Render, class Key>
Json page_of_all(const PageRequest& page, std::vector<Row> rows, Render render, Key key) {
  if (!page.after.empty())
    std::erase_if(rows, [&](const Row& row) { return key(row) <= page.after; });
  std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return key(a) < key(b); });
  return page_json(page, rows, render, key);
}

}  // namespace sandgate::api
