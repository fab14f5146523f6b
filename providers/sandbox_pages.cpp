#include "providers/sandbox_pages.hpp"

namespace sandgate {

std::string next_query(std::string_view name, const std::string& value) {
  return value.empty() ? "" : "&" + std::string(name) + "=" + percent_encode(value);
}

Error ListBudget::used_up() const {
  Error error(ErrorCode::unavailable, provider_ + " lists more than can be read");
  error.provider = provider_;
  return error;
}

void ListBudget::take_page() {
  if (pages_-- == 0) throw used_up();
}

void ListBudget::take_entries(size_t count) {
  if (count > entries_) throw used_up();
  entries_ -= count;
}

void ListBudget::take_bytes(size_t count) {
  if (count > bytes_) throw used_up();
  bytes_ -= count;
}

Task<std::vector<BackendSandbox>> list_pages(RestApi& api, std::string path,
                                             std::function<SandboxPage(const Json&)> read,
                                             ListBudget& budget) {
  std::vector<BackendSandbox> all;
  std::string next;
  do {
    budget.take_page();
    RestCall call{.path = path + next, .budget = budget.bytes()};
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
