#include "gateway/api/files.hpp"

#include <filesystem>

#include "gateway/api/exec.hpp"
#include "gateway/api/file_download.hpp"
#include "gateway/api/file_watch.hpp"
#include "gateway/api/page.hpp"
#include "gateway/api/with_failure_cause.hpp"
#include "gateway/core/crypto.hpp"
#include "gateway/core/document_reader.hpp"
#include "gateway/core/field_text.hpp"
#include "gateway/http/accept.hpp"
#include "gateway/http/problem.hpp"

namespace sandgate::api {
namespace {

constexpr size_t kMaxPath = 4095;  // Linux's PATH_MAX without the NUL
constexpr int64_t kMaxDepth = 64;
constexpr size_t kCursorParts = 2;
const std::initializer_list<std::string_view> kWhatIsListed{"path", "depth"};
constexpr uint32_t kDefaultMode = 0644;
constexpr const char* kTar = "application/x-tar";
// An upload that nobody waits for longer may still be a slow client's.
constexpr std::chrono::seconds kTurnPatience{10};

std::string path_of(const http::Query& query) {
  auto path = query.find("path");
  if (!path || path->empty()) throw Error::invalid("/path", "is required");
  if (path->size() > kMaxPath || path->find('\0') != std::string::npos)
    throw Error::invalid("/path", "must have at most 4095 bytes and no NUL");
  return std::move(*path);
}

uint32_t mode_of(const http::Query& query) {
  const auto text = query.find("mode");
  if (!text) return kDefaultMode;
  const bool octal = !text->empty() && text->size() <= 5 &&
                     text->find_first_not_of("01234567") == std::string::npos;
  const unsigned long mode = octal ? std::stoul(*text, nullptr, 8) : 010000;
  // Sandboxes never grant the bits beyond these.
  if (mode > 0777) throw Error::invalid("/mode", "must be octal permission bits, like 0644");
  return static_cast<uint32_t>(mode);
}

// The part that the paths of a folder's entries have in common: it and a slash. The parent of an
// entry right in the folder is the shortest.
std::string folder_of(const std::vector<FileEntry>& entries) {
  std::string shortest;
  for (const FileEntry& entry : entries) {
    const size_t length = entry.path.rfind('/') + 1;
    if (&entry == &entries.front() || length < shortest.size())
      shortest = entry.path.substr(0, length);
  }
  return shortest;
}

// Renders a page of entries by path. Names that are not UTF-8 may collide, so the cursor holds the
// number of entries with the last path seen so far, and that path (base64, as it may be any bytes).
// The folder is left out: the next request names it anyway, and a target has a limit.
Json page_of(const http::Request& request, std::vector<FileEntry> entries) {
  const PageRequest page = read_page(request, kCursorParts, kWhatIsListed);
  const auto by_path = [](const auto& a, const auto& b) { return a.path < b.path; };
  std::stable_sort(entries.begin(), entries.end(), by_path);
  const std::string folder = folder_of(entries);
  auto begin = entries.begin();
  if (!page.after.empty()) {
    const int64_t seen = page.integer_after(0);
    const auto path = base64_decode(page.after[1]);
    if (!path) throw Error::invalid("/cursor", "is not a cursor of this list");
    const FileEntry last{.path = folder + *path};
    const auto [first, end] = std::equal_range(begin, entries.end(), last, by_path);
    begin = first + std::min<int64_t>(seen, end - first);
  }
  const auto count = std::min<int64_t>(page.rows_to_fetch(), entries.end() - begin);
  const std::vector<FileEntry> rows(begin, begin + count);
  const auto shown = begin + std::min(count, page.limit);
  const auto key = [&](const FileEntry& last) {
    const auto first = std::lower_bound(entries.begin(), shown, last, by_path);
    return std::vector{std::to_string(shown - first),
                       base64_encode(last.path.substr(folder.size()))};
  };
  return page_json(
      page, rows, [](const FileEntry& entry) { return to_json(entry); }, key);
}

// The file that a write would replace; empty if there is none.
Task<std::optional<FileEntry>> entry_at(const OpenSandbox& box, std::string path) {
  const ByteRange nothing{0, 0};
  auto reading = box.provider->read_file(box.backend_id, std::move(path), nothing);
  const auto outcome = co_await attempt(std::move(reading));
  const auto* error = std::get_if<Error>(&outcome);
  if (error && error->code != ErrorCode::not_found) throw *error;
  if (error) co_return std::nullopt;
  co_return std::get<FileContent>(outcome).entry;
}

bool is_not_readable(ErrorCode code) {
  return code == ErrorCode::not_found || code == ErrorCode::invalid || code == ErrorCode::forbidden;
}

// What a removal would take away; empty if there is nothing. Directories and dangling links, which
// cannot be read, have no ETag, but exist and have a time.
Task<std::optional<FileEntry>> entry_to_remove(const OpenSandbox& box, std::string path) {
  const ByteRange nothing{0, 0};
  auto reading = box.provider->read_file(box.backend_id, path, nothing);
  const auto content = co_await attempt(std::move(reading));
  if (const auto* read = std::get_if<FileContent>(&content)) co_return read->entry;
  const Error& refusal = std::get<Error>(content);
  if (!is_not_readable(refusal.code)) throw refusal;
  auto looking = box.provider->stat(box.backend_id, std::move(path));
  auto outcome = co_await attempt(std::move(looking));
  const auto* error = std::get_if<Error>(&outcome);
  if (error && error->code != ErrorCode::not_found) throw *error;
  if (error) co_return std::nullopt;
  FileEntry entry = std::get<FileEntry>(std::move(outcome));
  entry.revision.clear();
  co_return entry;
}

// Its boundaries would be stored with the file.
bool is_a_form(const http::Headers& headers) {
  const std::string_view type = trimmed(headers.find("Content-Type").value_or(""));
  return starts_with_ignoring_case(type, "multipart/form-data");
}

http::Response form_refused(const std::string& request_id) {
  const Error error =
      Error::invalid("/Content-Type", "is that of a form: send the bytes of the file themselves");
  return http::problem(error, 415, request_id);
}

// A trailing slash denotes a directory, but backends strip it.
bool is_of_directory(const std::string& path) { return path.ends_with('/'); }

constexpr const char* kNamesNoFile = "ends with a slash, so it names no file";

Error not_of_a_file() { return Error::invalid("/path", kNamesNoFile); }

// The error of a call that knows one path, for a request with two.
Error about(Error error, const char* member) {
  for (FieldProblem& field : error.fields)
    if (field.path == "/path") field.path = member;
  return error;
}

// Throws if one of the paths of a move denotes a directory, and what is moved is none.
Task<void> check_is_directory(const OpenSandbox& box, std::string from, std::string to) {
  const bool is_source = is_of_directory(from);
  if (!is_source && !is_of_directory(to)) co_return;
  auto looking = attempt(box.provider->stat(box.backend_id, std::move(from)));
  const auto found = co_await std::move(looking);
  if (const auto* error = std::get_if<Error>(&found)) throw about(*error, "/from");
  if (std::get<FileEntry>(found).type != FileType::directory)
    throw Error::invalid(is_source ? "/from" : "/to", kNamesNoFile);
}

}  // namespace

void FileHandlers::add_routes(http::Routes& routes) {
  using http::BodyMode;
  using http::Method;
  using Answer = Task<http::Response> (FileHandlers::*)(http::Request&);
  const auto add = [&](Method method, std::string tail, BodyMode body, Answer answer) {
    const bool reads = method == Method::get || method == Method::head;
    routes.add(
        {.method = method,
         .pattern = "/v1/sandboxes/{id}/files" + tail,
         .permission = reads ? http::Permission::read_sandboxes : http::Permission::use_sandboxes,
         .body = body,
         .handler = [this, answer](http::Request& request) {
           return with_failure_cause(access_, request, (this->*answer)(request));
         }});
  };
  add(Method::get, "", BodyMode::none, &FileHandlers::read);
  add(Method::head, "", BodyMode::none, &FileHandlers::read);
  add(Method::put, "", BodyMode::streamed, &FileHandlers::write);
  add(Method::delete_, "", BodyMode::none, &FileHandlers::remove);
  add(Method::get, "/list", BodyMode::none, &FileHandlers::list);
  add(Method::get, "/stat", BodyMode::none, &FileHandlers::stat);
  add(Method::post, "/mkdir", BodyMode::buffered, &FileHandlers::make_directory);
  add(Method::post, "/move", BodyMode::buffered, &FileHandlers::move);
  add(Method::get, "/archive", BodyMode::none, &FileHandlers::read_archive);
  add(Method::put, "/archive", BodyMode::streamed, &FileHandlers::write_archive);
  add(Method::get, "/watch", BodyMode::none, &FileHandlers::watch);
}

Task<http::Response> FileHandlers::read(http::Request& request) {
  const std::string path = path_of(request.query);
  const OpenSandbox box = co_await access_.open(request.caller, request.param("id"), Verb::files);
  if (is_of_directory(path)) {
    co_await box.provider->stat(box.backend_id, path);
    throw not_of_a_file();
  }
  co_return co_await download(box, request, path);
}

Task<std::shared_ptr<void>> FileHandlers::turn_for(const OpenSandbox& box, const std::string& path,
                                                   const Conditions& conditions) {
  if (!conditions.any()) co_return nullptr;
  const auto plain = std::filesystem::path(path).lexically_normal();
  co_return co_await changes_.lock(box.id.value + '/' + plain.string(), kTurnPatience);
}

Task<http::Response> FileHandlers::write(http::Request& request) {
  const std::string path = path_of(request.query);
  const uint32_t mode = mode_of(request.query);
  if (is_of_directory(path)) throw not_of_a_file();
  // A partial upload would be mistaken for the whole file.
  if (request.headers.find("Content-Range"))
    throw Error::invalid("/Content-Range", "is not allowed: a file is written whole");
  const OpenSandbox box = co_await access_.open(request.caller, request.param("id"), Verb::files);
  if (is_a_form(request.headers)) co_return form_refused(request.id);
  const Conditions conditions(request.headers);
  auto waiting = turn_for(box, path, conditions);
  const auto turn = co_await std::move(waiting);
  if (conditions.any()) {
    const auto there = co_await entry_at(box, path);
    if (!conditions.allow_write(there)) co_return precondition_failed(request.id);
  }
  TextBytes nothing;
  ByteSource& bytes = request.stream ? *request.stream : nothing;
  const FileEntry entry = co_await box.provider->write_file(box.backend_id, path, mode, bytes);
  http::Response response = http::Response::json(200, to_json(entry));
  response.headers.emplace_back("ETag", entity_tag(entry));
  co_return response;
}

Task<http::Response> FileHandlers::remove(http::Request& request) {
  const std::string path = path_of(request.query);
  const bool recursive = request.query.flag("recursive");
  const OpenSandbox box = co_await access_.open(request.caller, request.param("id"), Verb::files);
  const Conditions conditions(request.headers);
  auto waiting = turn_for(box, path, conditions);
  const auto turn = co_await std::move(waiting);
  if (conditions.any()) {
    // Where there is nothing, the answer is the same as without conditions.
    const auto there = co_await entry_to_remove(box, path);
    if (there && !conditions.allow_write(there)) co_return precondition_failed(request.id);
  }
  co_await box.provider->remove(box.backend_id, path, recursive);
  co_return http::Response::empty(204);
}

Task<http::Response> FileHandlers::list(http::Request& request) {
  const std::string path =
      request.query.find("path").value_or("").empty() ? "." : path_of(request.query);
  const int depth = static_cast<int>(request.query.integer("depth", 1, kMaxDepth, 1));
  read_page(request, kCursorParts, kWhatIsListed);
  const OpenSandbox box = co_await access_.open(request.caller, request.param("id"), Verb::files);
  auto entries = co_await box.provider->list_files(box.backend_id, path, depth);
  co_return http::Response::json(200, page_of(request, std::move(entries)));
}

Task<http::Response> FileHandlers::stat(http::Request& request) {
  const std::string path = path_of(request.query);
  const OpenSandbox box = co_await access_.open(request.caller, request.param("id"), Verb::files);
  const FileEntry entry = co_await box.provider->stat(box.backend_id, path);
  co_return http::Response::json(200, to_json(entry));
}

Task<http::Response> FileHandlers::make_directory(http::Request& request) {
  const Json body = request.json();
  DocumentReader reader(body);
  const std::string path = reader.text("path", {1, kMaxPath}).value_or("");
  reader.require("path");
  reader.finish_or_throw();
  const OpenSandbox box = co_await access_.open(request.caller, request.param("id"), Verb::files);
  const FileEntry entry = co_await box.provider->make_directory(box.backend_id, path);
  co_return http::Response::json(201, to_json(entry));
}

Task<http::Response> FileHandlers::move(http::Request& request) {
  const Json body = request.json();
  DocumentReader reader(body);
  const std::string from = reader.text("from", {1, kMaxPath}).value_or("");
  const std::string to = reader.text("to", {1, kMaxPath}).value_or("");
  reader.require("from");
  reader.require("to");
  reader.finish_or_throw();
  const OpenSandbox box = co_await access_.open(request.caller, request.param("id"), Verb::files);
  auto checking = check_is_directory(box, from, to);
  co_await std::move(checking);
  auto moving = box.provider->move(box.backend_id, from, to);
  const auto outcome = co_await attempt(std::move(moving));
  // A backend that can tell names the source itself.
  if (const auto* error = std::get_if<Error>(&outcome)) throw about(*error, "/to");
  co_return http::Response::json(200, to_json(std::get<FileEntry>(outcome)));
}

Task<http::Response> FileHandlers::read_archive(http::Request& request) {
  const std::string path = path_of(request.query);
  const OpenSandbox box = co_await access_.open(request.caller, request.param("id"), Verb::archive);
  auto reading = co_await box.provider->read_archive(box.backend_id, path);
  auto source = co_await prefetched(std::move(reading));
  http::Response response;
  const auto accept = request.headers.list("Accept");
  const bool as_bytes = accept && http::prefers(*accept, "application/octet-stream", kTar);
  response.content_type = as_bytes ? "application/octet-stream" : kTar;
  response.headers.emplace_back("Content-Disposition", content_disposition("archive.tar"));
  response.body = body_of(std::move(source), std::nullopt, std::make_shared<OpenSandbox>(box));
  co_return response;
}

Task<http::Response> FileHandlers::write_archive(http::Request& request) {
  const std::string path = path_of(request.query);
  const OpenSandbox box = co_await access_.open(request.caller, request.param("id"), Verb::archive);
  TextBytes nothing;
  ByteSource& tar = request.stream ? *request.stream : nothing;
  co_await box.provider->write_archive(box.backend_id, path, tar);
  co_return http::Response::empty(204);
}

Task<http::Response> FileHandlers::watch(http::Request& request) {
  const std::string path = path_of(request.query);
  const bool recursive = request.query.flag("recursive");
  const OpenSandbox box = co_await access_.open(request.caller, request.param("id"), Verb::watch);
  auto watch = co_await box.provider->watch(box.backend_id, path, recursive);
  co_return watch_stream_of(std::move(watch), box, request.id);
}

}  // namespace sandgate::api
