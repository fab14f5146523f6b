#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "gateway/core/json_reader.hpp"
#include "providers/file_watch.hpp"
#include "providers/sandbox.hpp"

// Between files and the messages of filesystem.Filesystem. Pure.
namespace sandgate::compat::e2b {

// "-rw-r--r--".
std::string permissions_of(const FileEntry& entry);
// EntryInfo; without owner and group, which no backend tells.
Json entry_json(const FileEntry& entry);
// An item of the answer of an upload.
Json written_json(const FileEntry& entry);

// The events that a change in `directory` (absolute) is: a rename is two. Names are relative.
std::vector<Json> change_events(const FileChange& change, std::string_view directory);

}  // namespace sandgate::compat::e2b
