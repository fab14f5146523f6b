#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "providers/rest_api.hpp"

namespace sandgate {

// One answer of a vendor that lists its sandboxes by pages.
struct SandboxPage {
  std::vector<BackendSandbox> sandboxes;  // all that stand on it
  std::string next;  // what the query of the page after it has more ("&cursor=…"); empty: the last
};

// "&name=value", percent-encoded; "" for an empty value.
std::string next_query(std::string_view name, const std::string& value);

// What stands on the pages of `path`, a GET that has a query, and lives and carries an id of ours.
// A list that comes to no end is cut off after a thousand pages.
Task<std::vector<BackendSandbox>> list_pages(RestApi& api, std::string path,
                                             std::function<SandboxPage(const Json&)> read);

}  // namespace sandgate
