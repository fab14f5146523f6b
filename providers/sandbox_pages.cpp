#include "providers/sandbox_pages.hpp"

namespace sandgate {
namespace {

constexpr int kMaxPages = 1000;

}  // namespace

std::string next_query(std::string_view name, const std::string& value) {
  return value.empty() ? "" : "&" + std::string(name) + "=" + percent_encode(value);
}

Task<std::vector<BackendSandbox>> list_pages(RestApi& api, std::string path,
                                             std::function<SandboxPage(const Json&)> read) {
  std::vector<BackendSandbox> all;
  std::string next;
  for (int number = 0; number < kMaxPages; ++number) {
    const Json document = co_await api.get(path + next);
    SandboxPage page = read(document);
    for (BackendSandbox& sandbox : page.sandboxes)
      if (sandbox.state != BackendState::gone && !sandbox.sandbox_id.empty())
        all.push_back(std::move(sandbox));
    next = std::move(page.next);
    if (next.empty()) break;
  }
  co_return all;
}

}  // namespace sandgate
