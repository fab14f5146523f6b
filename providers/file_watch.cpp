#include <array>

#include "providers/file_watch.hpp"

namespace sandgate {
namespace {

constexpr std::array<std::string_view, 5> kChangeKinds{"create", "write", "remove", "rename",
                                                       "overflow"};

}  // namespace

std::string_view to_string(FileChangeKind kind) { return kChangeKinds[static_cast<size_t>(kind)]; }

std::optional<FileChangeKind> file_change_kind_from(std::string_view text) {
  for (size_t i = 0; i < kChangeKinds.size(); ++i)
    if (kChangeKinds[i] == text) return static_cast<FileChangeKind>(i);
  return std::nullopt;
}

}  // namespace sandgate
