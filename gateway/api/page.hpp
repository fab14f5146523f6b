#pragma once
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/core/json_reader.hpp"
#include "gateway/core/time.hpp"
#include "gateway/http/query.hpp"

// The one list envelope: {"items":[…],"next_cursor":null}.
namespace sandgate::api {

// Which part of a list is asked for. `after` is the sort key of the last row already seen, one
// text per column; empty means from the start.
struct PageRequest {
  int64_t limit = 50;
  std::vector<std::string> after;
  std::string list;  // which one it is part of: its cursors are for no other

  // One more than asked for: the extra row only tells that there is a next page.
  int64_t rows_to_fetch() const { return limit + 1; }
  // A part of `after` as a number or a time. Throws Error(invalid) for a cursor nobody issued.
  int64_t integer_after(size_t part) const;
  Time time_after(size_t part) const;
  Time micros_after(size_t part) const;  // written as microseconds
};

// Reads ?limit (1..100, 50) and ?cursor. `parts` is how many columns the list's sort key has. A
// cursor is for the list of its route and the route's parameters alone, and for the same values of
// the query's `filters`; "metadata." is all that begin so. Throws Error(invalid) with path "?limit"
// or "?cursor".
PageRequest read_page(const http::Request& request, size_t parts,
                      std::initializer_list<std::string_view> filters = {});

// The same of a list that is named by who reads it.
PageRequest read_page(const http::Query& query, size_t parts, std::string list);

// Opaque, safe in a URL. Only read_page understands it.
std::string to_cursor(const std::string& list, const std::vector<std::string>& parts);

// Renders up to `limit` rows of rows_to_fetch(): `render(row)` gives the item's Json, `key(row)`
// the row's sort key as texts.
template <class Row, class Render, class Key>
Json page_json(const PageRequest& page, const std::vector<Row>& rows, Render render, Key key) {
  Json items = Json::array();
  const size_t shown = std::min(rows.size(), static_cast<size_t>(page.limit));
  for (size_t i = 0; i < shown; ++i) items.push_back(render(rows[i]));
  Json next;
  if (rows.size() > shown && shown > 0) next = to_cursor(page.list, key(rows[shown - 1]));
  return {{"items", std::move(items)}, {"next_cursor", std::move(next)}};
}

// The same of a list that is at hand as a whole, in any order: it is shown by its keys.
template <class Row, class Render, class Key>
Json page_of_all(const PageRequest& page, std::vector<Row> rows, Render render, Key key) {
  if (!page.after.empty())
    std::erase_if(rows, [&](const Row& row) { return key(row) <= page.after; });
  std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return key(a) < key(b); });
  return page_json(page, rows, render, key);
}

}  // namespace sandgate::api
