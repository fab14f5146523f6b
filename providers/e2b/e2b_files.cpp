#include <algorithm>

#include "providers/byte_sources.hpp"
#include "providers/e2b/e2b.hpp"

// The file verbs of E2bProvider.
namespace sandgate {
namespace {

constexpr uint32_t kDefaultMode = 0644;  // the mode of files that envd creates

std::string bytes_path(const std::string& path) { return "/files?path=" + percent_encode(path); }

Error not_a_file(const std::string& path) {
  return Error::invalid("/path", path + " is not a file");
}

}  // namespace

Task<Json> E2bProvider::filesystem(std::string id, std::string method, Json body) {
  RestApi server = co_await envd(id);
  RestCall call{.method = "POST",
                .path = "/filesystem.Filesystem/" + method,
                .json = std::move(body),
                .headers = {{"Connect-Protocol-Version", "1"}}};
  call.deadline = std::chrono::seconds(60);
  co_return co_await server.call(std::move(call));
}

Task<FileEntry> E2bProvider::stat(std::string id, std::string path) {
  Json body{{"path", path}};
  const Json document = co_await filesystem(id, "Stat", std::move(body));
  co_return e2b::to_entry(field_of(document, "entry"));
}

Task<FileContent> E2bProvider::read_file(std::string id, std::string path, ByteRange range) {
  FileContent content;
  content.entry = co_await stat(id, path);
  if (content.entry.type == FileType::directory) throw not_a_file(path);
  content.bytes = std::make_unique<TextBytes>();
  const bool link = content.entry.type == FileType::symlink;
  if (!link && range.first >= content.entry.size) co_return content;
  RestApi server = co_await envd(id);
  RestCall call{.path = bytes_path(path)};
  call.takes_file();
  auto part = co_await server.stream_range(std::move(call), range);
  if (part.bytes)
    content.bytes = std::make_unique<OwnedBytes>(shared_from_this(), std::move(part.bytes));
  co_return content;
}

Task<FileEntry> E2bProvider::write_file(std::string id, std::string path, uint32_t mode,
                                        ByteSource& bytes) {
  // A file that others must not read is created unreadable for them before it is written.
  if ((mode & kDefaultMode) != kDefaultMode) {
    const std::string line = "f=" + shell::rooted(path) +
                             "; mkdir -p \"$(dirname \"$f\")\" && (umask 077; : >>\"$f\") && "
                             "chmod 600 \"$f\"";
    co_await run(id, line);
  }
  RestApi server = co_await envd(id);
  RestCall call{.method = "POST", .path = bytes_path(path)};
  call.sends_file(bytes);
  co_await server.call(std::move(call));
  // envd leaves the mode of a file that was there.
  FileEntry written = co_await stat(id, path);
  if (written.mode == mode) co_return written;
  const std::string line = "chmod " + octal_mode(mode) + " " + shell::rooted(path);
  const LineResult ran = co_await run(id, line);
  if (ran.status != 0) throw Error(ErrorCode::invalid, "the file's mode could not be set");
  co_return co_await stat(id, path);
}

Task<std::vector<FileEntry>> E2bProvider::list_files(std::string id, std::string path, int depth) {
  Json body{{"path", path}, {"depth", depth}};
  const Json document = co_await filesystem(id, "ListDir", std::move(body));
  std::vector<FileEntry> all;
  const Json entries = field_of(document, "entries");
  for (const Json& entry : entries) all.push_back(e2b::to_entry(entry));
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  co_return all;
}

Task<FileEntry> E2bProvider::make_directory(std::string id, std::string path) {
  Json body{{"path", path}};
  const auto outcome = co_await attempt(filesystem(id, "MakeDir", std::move(body)));
  const auto* error = std::get_if<Error>(&outcome);
  if (error && error->code != ErrorCode::conflict) throw *error;
  // An existing directory is not an error.
  co_return co_await stat(id, path);
}

Task<FileEntry> E2bProvider::move(std::string id, std::string from, std::string to) {
  Json body{{"source", from}, {"destination", to}};
  const Json document = co_await filesystem(id, "Move", std::move(body));
  co_return e2b::to_entry(field_of(document, "entry"));
}

Task<void> E2bProvider::check_may_go(std::string id, std::string path) {
  const std::string line = shell::stays_line(path);
  const LineResult ran = co_await run(std::move(id), line);
  if (ran.status == 0) throw shell::root_and_home_stay();
}

Task<void> E2bProvider::remove(std::string id, std::string path, bool recursive) {
  // envd's Remove is always recursive, succeeds for a missing file and takes the home away.
  const FileEntry entry = co_await stat(id, path);
  if (entry.type == FileType::directory) co_await check_may_go(id, path);
  if (!recursive && entry.type == FileType::directory) {
    const auto inside = co_await list_files(id, path, 1);
    if (!inside.empty()) throw Error(ErrorCode::conflict, "the directory is not empty");
  }
  Json body{{"path", path}};
  co_await filesystem(id, "Remove", std::move(body));
}

}  // namespace sandgate
