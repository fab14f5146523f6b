#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/core/json_reader.hpp"
#include "providers/file_watch.hpp"
#include "providers/sandbox.hpp"

// Converts between files and the messages of filesystem.Filesystem. Pure.
namespace sandgate::compat::e2b {

// Returns permissions in the form "-rw-r--r--", with "L" for a symlink.
std::string permissions_of(const FileEntry& entry);
// What a symlink leads to in the end.
struct LinkTarget {
  std::string path;  // absolute; of the link itself if it leads nowhere
  FileType type = FileType::other;
  uint32_t mode = 0;
};
// Returns an EntryInfo, without owner and group, which backends do not report. With `end`, what the
// link leads to gives its type and mode, as clients expect.
Json entry_json(const FileEntry& entry, const std::optional<LinkTarget>& end = std::nullopt);
// Returns an item of an upload's answer.
Json written_json(const FileEntry& entry);

// Whether a WatchDir or CreateWatcher message wants the directories below as well. Throws
// Error(unsupported) for other wishes than the usual ones.
bool is_recursive_watch(const Json& message);

// Returns the events of a change in `directory` (absolute); a rename is two events. Names are
// relative to the directory. Throws Error(unavailable) for an overflow.
std::vector<Json> change_events(const FileChange& change, std::string_view directory);

}  // namespace sandgate::compat::e2b
