#include "gateway/compat/e2b/link_targets.hpp"

#include "gateway/core/for_each_concurrent.hpp"

namespace sandgate::compat::e2b {
namespace {

constexpr int kMaxSteps = 8;  // from link to link
constexpr size_t kLinksAtOnce = 8;

bool is_link(const FileEntry& entry) { return entry.type == FileType::symlink && entry.target; }

std::string next_path(const FileEntry& link) {
  if (link.target->starts_with('/')) return *link.target;
  return link.path.substr(0, link.path.rfind('/') + 1) + *link.target;
}

// Whether the error says that a link leads nowhere, or where the sandbox's account may not look.
bool leads_nowhere(const Error& error) {
  return error.code == ErrorCode::not_found || error.code == ErrorCode::forbidden ||
         error.code == ErrorCode::invalid;
}

Task<LinkTarget> end_of(OpenSandbox box, FileEntry link) {
  LinkTarget nowhere{.path = link.path, .type = FileType::other, .mode = 0};
  for (int step = 0; step < kMaxSteps; ++step) {
    auto looking = box.provider->stat(box.backend_id, next_path(link));
    auto outcome = co_await attempt(std::move(looking));
    const auto* error = std::get_if<Error>(&outcome);
    if (error && leads_nowhere(*error)) break;
    if (error) throw *error;
    link = std::move(std::get<FileEntry>(outcome));
    if (!is_link(link))
      co_return LinkTarget{.path = link.path, .type = link.type, .mode = link.mode};
  }
  co_return nowhere;
}

}  // namespace

Task<std::vector<std::optional<LinkTarget>>> link_targets(const OpenSandbox& box,
                                                          const std::vector<FileEntry>& entries) {
  std::vector<std::optional<LinkTarget>> ends(entries.size());
  std::vector<size_t> links;
  for (size_t i = 0; i < entries.size() && links.size() < kMaxLinks; ++i)
    if (is_link(entries[i])) links.push_back(i);
  std::optional<Error> failure;
  auto follow_one = [&](size_t i) -> Task<void> {
    auto following = end_of(box, entries[i]);
    auto outcome = co_await attempt(std::move(following));
    if (const auto* error = std::get_if<Error>(&outcome))
      failure = *error;
    else
      ends[i] = std::move(std::get<LinkTarget>(outcome));
  };
  co_await for_each_concurrent(std::move(links), kLinksAtOnce, std::move(follow_one));
  if (failure) throw *failure;
  co_return ends;
}

Task<std::optional<LinkTarget>> target_of(const OpenSandbox& box, std::string path) {
  auto looking = box.provider->stat(box.backend_id, std::move(path));
  const auto outcome = co_await attempt(std::move(looking));
  const auto* error = std::get_if<Error>(&outcome);
  if (error && error->code == ErrorCode::not_found) co_return std::nullopt;
  if (error) throw *error;
  const std::vector<FileEntry> alone{std::get<FileEntry>(outcome)};
  const auto ends = co_await link_targets(box, alone);
  if (ends.front()) co_return ends.front();
  co_return LinkTarget{.path = alone[0].path, .type = alone[0].type, .mode = alone[0].mode};
}

}  // namespace sandgate::compat::e2b
