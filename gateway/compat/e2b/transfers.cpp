#include "gateway/compat/e2b/transfers.hpp"

#include "gateway/api/file_download.hpp"
#include "gateway/api/with_failure_cause.hpp"
#include "gateway/compat/e2b/account.hpp"
#include "gateway/compat/e2b/file_wire.hpp"
#include "gateway/compat/e2b/link_targets.hpp"
#include "gateway/compat/e2b/multipart.hpp"
#include "gateway/core/field_text.hpp"

namespace sandgate::compat::e2b {
namespace {

constexpr uint32_t kNewFile = 0644;
constexpr size_t kMaxParts = 10'000;  // as many as a list shows
constexpr std::string_view kMetadata = "x-metadata-";

std::string path_of(const http::Request& request) {
  const auto path = request.query.find("path");
  if (!path || path->empty()) throw Error::invalid("/path", "is required");
  return path_from(*path, "/path");
}

// Rejects what would otherwise be ignored.
void check_upload(const http::Request& request) {
  if (request.headers.find("Content-Encoding").value_or("identity") != "identity")
    throw Error(ErrorCode::invalid, "compressed uploads are not supported");
  for (const auto& [name, value] : request.headers.fields())
    if (starts_with_ignoring_case(name, kMetadata))
      throw Error(ErrorCode::invalid, "files have no metadata here");
}

// An existing file keeps its permissions, also if a link leads to it.
Task<Json> write_one(const OpenSandbox& box, std::string path, ByteSource& bytes) {
  const auto before = co_await target_of(box, path);
  const bool file = before && before->type == FileType::file;
  const uint32_t mode = file ? before->mode & 0777 : kNewFile;
  const FileEntry entry = co_await box.provider->write_file(box.backend_id, path, mode, bytes);
  co_return written_json(entry);
}

}  // namespace

Task<http::Response> Transfers::read(http::Request& request) {
  check_own_account(request);
  const std::string path = path_of(request);
  const OpenSandbox box =
      co_await access_.open(request.caller, request.caller.sandbox->value, Verb::files);
  co_return co_await api::download(box, request, path);
}

// Each part named "file" is a file. Its path is ?path or else the part's file name.
Task<Json> Transfers::write_parts(OpenSandbox box, const http::Request& request) {
  const auto type = request.headers.find("Content-Type").value_or("");
  MultipartReader parts(*request.stream, boundary_of(type));
  const std::string given = request.query.find("path").value_or("");
  Json written = Json::array();
  for (;;) {
    const auto part = co_await parts.next();
    if (!part) break;
    if (part->name != "file") continue;
    const std::string path =
        given.empty() ? path_from(part->file_name, "") : path_from(given, "/path");
    if (path == ".") throw Error(ErrorCode::invalid, "a file of the upload has no name");
    if (!given.empty() && !written.empty())
      throw Error::invalid("/path", "names one file, and the upload has several");
    if (written.size() == kMaxParts)
      throw Error(ErrorCode::invalid,
                  "the first 10000 files are written: send the others in another upload");
    Json item = co_await write_one(box, path, parts);
    written.push_back(std::move(item));
  }
  co_return written;
}

Task<http::Response> Transfers::write(http::Request& request) {
  check_own_account(request);
  check_upload(request);
  const std::string_view type = request.headers.find("Content-Type").value_or("");
  const bool parts = type.starts_with("multipart/form-data");
  const std::string path = parts ? "" : path_of(request);
  const OpenSandbox box =
      co_await access_.open(request.caller, request.caller.sandbox->value, Verb::files);
  Json written = Json::array();
  if (parts) {
    written = co_await write_parts(box, request);
  } else {
    Json item = co_await write_one(box, path, *request.stream);
    written.push_back(std::move(item));
  }
  co_return http::Response::json(200, written);
}

void Transfers::add_routes(http::Routes& routes) {
  using http::BodyMode;
  using http::Method;
  using http::Permission;
  using Answer = Task<http::Response> (Transfers::*)(http::Request&);
  const auto add = [&](Method method, Permission permission, BodyMode body, Answer answer) {
    routes.add({.method = method,
                .pattern = "/files",
                .permission = permission,
                .body = body,
                .handler = [this, answer](http::Request& r) {
                  r.params["id"] = r.caller.sandbox->value;
                  return api::with_failure_cause(access_, r, (this->*answer)(r));
                }});
  };
  add(Method::get, Permission::read_sandboxes, BodyMode::none, &Transfers::read);
  add(Method::head, Permission::read_sandboxes, BodyMode::none, &Transfers::read);
  add(Method::post, Permission::use_sandboxes, BodyMode::streamed, &Transfers::write);
}

}  // namespace sandgate::compat::e2b
