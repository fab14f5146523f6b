#include "gateway/compat/e2b/file_wire.hpp"

#include "gateway/core/utf8.hpp"

namespace sandgate::compat::e2b {
namespace {

const char* type_of(FileType type) {
  switch (type) {
    case FileType::file:
      return "FILE_TYPE_FILE";
    case FileType::directory:
      return "FILE_TYPE_DIRECTORY";
    case FileType::symlink:
      return "FILE_TYPE_SYMLINK";
    case FileType::other:
      break;
  }
  return "FILE_TYPE_UNSPECIFIED";
}

std::string relative_to(std::string_view directory, std::string_view path) {
  if (path.starts_with(directory)) path.remove_prefix(directory.size());
  path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
  return to_utf8(path);
}

}  // namespace

std::string permissions_of(const FileEntry& entry) {
  std::string text = entry.type == FileType::directory ? "d"
                     : entry.type == FileType::symlink ? "L"
                                                       : "-";
  for (int bit = 8; bit >= 0; --bit) text.push_back(entry.mode >> bit & 1 ? "xwr"[bit % 3] : '-');
  return text;
}

Json entry_json(const FileEntry& entry, const std::optional<LinkTarget>& end) {
  Json document{{"name", to_utf8(entry.name)},
                {"type", type_of(end ? end->type : entry.type)},
                {"path", to_utf8(entry.path)},
                {"size", std::to_string(entry.size)},
                {"mode", end ? end->mode : entry.mode},
                {"permissions", permissions_of(entry)},
                {"modifiedTime", to_rfc3339(entry.modified_at)}};
  if (entry.target) document["symlinkTarget"] = to_utf8(end ? end->path : *entry.target);
  return document;
}

Json written_json(const FileEntry& entry) {
  return {{"name", to_utf8(entry.name)}, {"path", to_utf8(entry.path)}, {"type", "file"}};
}

bool is_recursive_watch(const Json& message) {
  const auto asks_for = [&](const char* wish) { return message.value(wish, Json()) == true; };
  if (asks_for("includeEntry")) throw Error(ErrorCode::unsupported, "events come without entries");
  if (asks_for("allowNetworkMounts"))
    throw Error(ErrorCode::unsupported, "what others change on a network mount is not seen");
  return asks_for("recursive");
}

std::vector<Json> change_events(const FileChange& change, std::string_view directory) {
  const auto event = [&](std::string_view path, const char* type) -> Json {
    return {{"name", relative_to(directory, path)}, {"type", type}};
  };
  switch (change.kind) {
    case FileChangeKind::create:
      return {event(change.path, "EVENT_TYPE_CREATE")};
    case FileChangeKind::write:
      return {event(change.path, "EVENT_TYPE_WRITE")};
    case FileChangeKind::remove:
      return {event(change.path, "EVENT_TYPE_REMOVE")};
    case FileChangeKind::rename:
      return {event(change.from, "EVENT_TYPE_RENAME"), event(change.path, "EVENT_TYPE_CREATE")};
    case FileChangeKind::overflow:
      break;
  }
  // Without an error the client would take the events received for all of them.
  throw Error(ErrorCode::unavailable, "changes came faster than they were read: some are lost");
}

}  // namespace sandgate::compat::e2b
