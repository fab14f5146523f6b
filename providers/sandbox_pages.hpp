#pragma once
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "providers/transport/rest_api.hpp"

namespace sandgate {

// One page of a vendor's list of sandboxes.
struct SandboxPage {
  std::vector<BackendSandbox> sandboxes;  // all entries of the page but `remains`
  std::vector<BackendSandbox> remains;  // of sandboxes that ended by themselves, until removed
  std::string next;  // added to the query for the next page ("&cursor=…"); empty: last page
};

// Returns "&name=value", percent-encoded, or "" for an empty value.
std::string next_query(std::string_view name, const std::string& value);

// Limits on pages, entries and bytes of one listing, which is held in memory. The take functions
// throw Error(unavailable) when a limit is exceeded: a truncated list would be mistaken for a
// complete one.
class ListBudget {
 public:
  explicit ListBudget(std::string provider, int pages = 1000, size_t entries = 100'000,
                      size_t bytes = 128 << 20)
      : provider_(std::move(provider)), pages_(pages), entries_(entries), bytes_(bytes) {}

  // Call before each request. Throws for a second one with the same address (empty: not compared),
  // since a vendor that leads back to a page has no last one.
  void take_page(const std::string& address = "");
  void take_entries(size_t count);
  void take_bytes(size_t count);
  size_t* bytes() { return &bytes_; }  // for RestCall::budget

 private:
  Error broken(const char* how) const;

  std::string provider_;
  std::set<size_t> asked_;  // hashes of addresses
  int pages_;
  size_t entries_, bytes_;
};

// Reads all pages of `path`, a GET whose path has a query. Returns what carries a Sandgate id: the
// sandboxes that are not gone, and the remains as gone.
Task<std::vector<BackendSandbox>> list_pages(RestApi& api, std::string path,
                                             std::function<SandboxPage(const Json&)> read);
// The same within a larger listing's limits. `budget` must outlive the task.
Task<std::vector<BackendSandbox>> list_pages(RestApi& api, std::string path,
                                             std::function<SandboxPage(const Json&)> read,
                                             ListBudget& budget);

}  // namespace sandgate
