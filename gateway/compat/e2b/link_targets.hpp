#pragma once
#include <optional>
#include <vector>

#include "gateway/compat/e2b/file_wire.hpp"
#include "gateway/sandboxes/access.hpp"

namespace sandgate::compat::e2b {

// Returns what each symlink among the entries leads to; empty for other entries. Each link costs
// calls of the backend, so that those beyond the first kMaxLinks are not followed either. ".."
// behind a link to a directory is taken as written, as everywhere in paths.
constexpr size_t kMaxLinks = 100;
Task<std::vector<std::optional<LinkTarget>>> link_targets(const OpenSandbox& box,
                                                          const std::vector<FileEntry>& entries);
// What the path leads to; its type is `other` if that is a link without an end. Empty if there is
// nothing.
Task<std::optional<LinkTarget>> target_of(const OpenSandbox& box, std::string path);

}  // namespace sandgate::compat::e2b
