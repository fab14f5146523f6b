#include "providers/sandbox_pages.hpp"

namespace sandgate {
namespace {

constexpr const char* kTooMuch = " lists more than can be read";

}  // namespace

std::string next_query(std::string_view name, const std::string& value) {
  return value.empty() ? "" : "&" + std::string(name) + "=" + percent_encode(value);
}

Error ListBudget::broken(const char* how) const {
  Error error(ErrorCode::unavailable, provider_ + how);
  error.provider = provider_;
  return error;
}

void ListBudget::take_page(const std::string& address) {
  const bool is_new = address.empty() || asked_.insert(std::hash<std::string>()(address)).second;
  if (!is_new) throw broken(" leads back to a page of its list");
  if (pages_-- == 0) throw broken(kTooMuch);
}

void ListBudget::take_entries(size_t count) {
  if (count > entries_) throw broken(kTooMuch);
  entries_ -= count;
}

void ListBudget::take_bytes(size_t count) {
  if (count > bytes_) throw broken(kTooMuch);
  bytes_ -= count;
}

Task<std::vector<BackendSandbox>> list_pages(RestApi& api, std::string path,
                                             std::function<SandboxPage(const Json&)> read,
                                             ListBudget& budget) {
  std::vector<BackendSandbox> all;
  std::string next;
  do {
    RestCall call{.path = path + next, .budget = budget.bytes()};
    budget.take_page(call.path);
    const Json document = co_await api.call(std::move(call));
    SandboxPage page = read(document);
    budget.take_entries(page.sandboxes.size() + page.remains.size());
    std::erase_if(page.sandboxes, [](const auto& one) { return one.state == BackendState::gone; });
    for (BackendSandbox& one : page.remains) one.state = BackendState::gone;
    for (auto* found : {&page.sandboxes, &page.remains})
      for (BackendSandbox& one : *found)
        if (!one.sandbox_id.empty()) all.push_back(std::move(one));
    next = std::move(page.next);
  } while (!next.empty());
  co_return all;
}

Task<std::vector<BackendSandbox>> list_pages(RestApi& api, std::string path,
                                             std::function<SandboxPage(const Json&)> read) {
  ListBudget budget(api.target().provider);
  co_return co_await list_pages(api, std::move(path), std::move(read), budget);
}

}  // namespace sandgate
