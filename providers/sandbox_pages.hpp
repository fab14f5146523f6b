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

// What is left of the room that one listing has over all its pages. Throws Error(unavailable) when
// it is used up: what a backend lists is held in memory, and a part would be taken for the whole.
class ListRoom {
 public:
  explicit ListRoom(std::string provider, int pages = 1000, size_t entries = 100'000,
                    size_t bytes = 128 << 20)
      : provider_(std::move(provider)), pages_(pages), entries_(entries), bytes_(bytes) {}

  void take_page();  // before each is asked for
  void take_entries(size_t count);
  void take_bytes(size_t count);
  size_t* bytes() { return &bytes_; }  // for RestCall::room

 private:
  Error used_up() const;

  std::string provider_;
  int pages_;
  size_t entries_, bytes_;
};

// What stands on the pages of `path`, a GET that has a query, and lives and carries an id of ours.
Task<std::vector<BackendSandbox>> list_pages(RestApi& api, std::string path,
                                             std::function<SandboxPage(const Json&)> read);
// The same as a part of a listing; `room` must outlive the task.
Task<std::vector<BackendSandbox>> list_pages(RestApi& api, std::string path,
                                             std::function<SandboxPage(const Json&)> read,
                                             ListRoom& room);

}  // namespace sandgate
