#include "providers/byte_sources.hpp"
#include "providers/sandbox_pages.hpp"
#include "providers/sandgate/sandgate.hpp"
#include "providers/sandgate/sandgate_process.hpp"
#include "providers/sandgate/sandgate_wire.hpp"
#include "providers/vendor_json.hpp"

// The file verbs of SandgateProvider.
namespace sandgate {
namespace {

constexpr size_t kLongestTag = 200;

// A watch whose changes come from another gateway as server-sent events.
class RemoteWatch : public FileWatch {
 public:
  RemoteWatch(std::shared_ptr<void> owner, std::unique_ptr<EventReader> events)
      : owner_(std::move(owner)), events_(std::move(events)) {}
  Task<std::vector<FileChange>> next() override { return read(*events_); }

 private:
  static Task<std::vector<FileChange>> read(EventReader& events) {
    for (;;) {
      const auto event = co_await events.next();
      if (!event) co_return std::vector<FileChange>();
      auto change = wire::to_file_change(*event);
      if (change) co_return std::vector<FileChange>{std::move(*change)};
    }
  }

  std::shared_ptr<void> owner_;
  std::unique_ptr<EventReader> events_;
};

std::string files_path(const std::string& id, const std::string& tail, const std::string& path) {
  return "/v1/sandboxes/" + percent_encode(id) + "/files" + tail + "?path=" + percent_encode(path);
}

// Reads an entry; a strong ETag in the headers becomes its revision.
FileEntry entry_of(std::string_view text, const HttpFields& headers) {
  FileEntry entry = wire::to_entry(parse_answer(text));
  const std::string_view tag = find_field(headers, "ETag").value_or("");
  const bool strong = tag.size() > 2 && tag.starts_with('"') && tag.ends_with('"');
  if (strong && tag.size() <= kLongestTag) entry.revision = tag.substr(1, tag.size() - 2);
  return entry;
}

}  // namespace

Task<FileContent> SandgateProvider::read_file(std::string id, std::string path, ByteRange range) {
  RestCall call{.path = files_path(id, "", path)};
  call.takes_file();
  auto part = co_await api_.stream_range(std::move(call), range);
  FileContent content;
  const auto text = find_field(part.headers, "X-Sandgate-Entry");
  content.bytes = std::make_unique<TextBytes>();
  if (part.bytes)
    content.bytes = std::make_unique<OwnedBytes>(shared_from_this(), std::move(part.bytes));
  // An extension need not send the entry with a refusal.
  if (!text && !part.bytes)
    content.entry = co_await stat(id, path);
  else
    content.entry = entry_of(text.value_or(""), part.headers);
  co_return content;
}

Task<FileEntry> SandgateProvider::write_file(std::string id, std::string path, uint32_t mode,
                                             ByteSource& bytes) {
  const std::string address = files_path(id, "", path) + "&mode=" + octal_mode(mode);
  RestCall call{.method = "PUT", .path = address};
  call.sends_file(bytes);
  const HttpReply reply = co_await api_.send(std::move(call));
  if (reply.status / 100 != 2) throw api_.failure(reply, address, /*sent=*/true);
  co_return entry_of(reply.body, reply.headers);
}

Task<FileEntry> SandgateProvider::stat(std::string id, std::string path) {
  const Json document = co_await api_.get(files_path(id, "/stat", path));
  co_return wire::to_entry(document);
}

Task<std::vector<FileEntry>> SandgateProvider::list_files(std::string id, std::string path,
                                                          int depth) {
  const std::string query =
      files_path(id, "/list", path) + "&limit=100&depth=" + std::to_string(depth);
  std::vector<FileEntry> all;
  std::string cursor;
  ListBudget budget("sandgate");
  do {
    RestCall call{.path = query + cursor, .budget = budget.bytes()};
    budget.take_page(call.path);
    const Json document = co_await api_.call(std::move(call));
    const Json& items = list_of("sandgate", document, "items");
    budget.take_entries(items.size());
    for (const Json& item : items) all.push_back(wire::to_entry(item));
    cursor = next_query("cursor", text_of(document, "next_cursor"));
  } while (!cursor.empty());
  co_return all;
}

Task<FileEntry> SandgateProvider::make_directory(std::string id, std::string path) {
  Json body{{"path", path}};
  const Json document =
      co_await api_.post("/v1/sandboxes/" + percent_encode(id) + "/files/mkdir", std::move(body));
  co_return wire::to_entry(document);
}

Task<FileEntry> SandgateProvider::move(std::string id, std::string from, std::string to) {
  Json body{{"from", from}, {"to", to}};
  const Json document =
      co_await api_.post("/v1/sandboxes/" + percent_encode(id) + "/files/move", std::move(body));
  co_return wire::to_entry(document);
}

Task<void> SandgateProvider::remove(std::string id, std::string path, bool recursive) {
  RestCall call{.method = "DELETE",
                .path = files_path(id, "", path) + (recursive ? "&recursive=true" : "")};
  co_await api_.call(std::move(call));
}

Task<std::unique_ptr<FileWatch>> SandgateProvider::watch(std::string id, std::string path,
                                                         bool recursive) {
  RestCall call{.path = files_path(id, "/watch", path) + (recursive ? "&recursive=true" : "")};
  auto events = co_await open_events(api_, std::move(call));
  co_return std::make_unique<RemoteWatch>(shared_from_this(), std::move(events));
}

Task<std::unique_ptr<ByteSource>> SandgateProvider::read_archive(std::string id, std::string path) {
  RestCall call{.path = files_path(id, "/archive", path)};
  call.takes_file();
  auto stream = co_await api_.stream(std::move(call));
  co_return std::make_unique<OwnedBytes>(shared_from_this(), std::move(stream));
}

Task<void> SandgateProvider::write_archive(std::string id, std::string path, ByteSource& tar) {
  RestCall call{.method = "PUT", .path = files_path(id, "/archive", path)};
  call.sends_file(tar);
  co_await api_.call(std::move(call));
}

}  // namespace sandgate
