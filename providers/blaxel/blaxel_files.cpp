#include "providers/blaxel/blaxel.hpp"
#include "providers/byte_sources.hpp"

// File transfers of BlaxelProvider.
namespace sandgate {
namespace {

// The time limit for joining the parts of an upload.
constexpr auto kBlaxelJoin = std::chrono::seconds(60);
// The largest file sent in one request, and the size of the parts of a larger one.
constexpr size_t kBlaxelPart = 5 << 20;

// Slashes are encoded as well: otherwise the path is relative to the working directory.
std::string blaxel_file(const std::string& path) { return "/filesystem/" + percent_encode(path); }

Task<std::string> next_blaxel_part(ByteSource& bytes) {
  std::string part(kBlaxelPart, '\0');
  const size_t filled = co_await fill(bytes, part);
  part.resize(filled);
  co_return part;
}

Task<Json> send_blaxel_part(RestApi& server, std::string path, std::string part) {
  TextBytes bytes(std::move(part));
  FormFile form(bytes, "file", "file");
  RestCall call{
      .method = "PUT", .path = std::move(path), .headers = {{"Content-Type", form.content_type()}}};
  call.sends_file(form);
  co_return co_await server.call(std::move(call));
}

Task<void> send_blaxel_parts(RestApi& server, std::string upload, std::string part,
                             ByteSource& bytes) {
  Json parts = Json::array();
  while (!part.empty()) {
    const bool last = part.size() < kBlaxelPart;
    const size_t number = parts.size() + 1;
    const std::string path = upload + "/part?partNumber=" + std::to_string(number);
    const Json sent = co_await send_blaxel_part(server, path, std::move(part));
    parts.push_back({{"partNumber", number}, {"etag", text_of(sent, "etag")}});
    if (last) break;
    part = co_await next_blaxel_part(bytes);
  }
  RestCall call{
      .method = "POST", .path = upload + "/complete", .json = Json{{"parts", std::move(parts)}}};
  call.deadline = kBlaxelJoin;
  co_await server.call(std::move(call));
}

}  // namespace

Task<std::unique_ptr<ByteSource>> BlaxelProvider::download(std::string id, std::string path) {
  RestApi server = co_await inside(id);
  RestCall call{.path = blaxel_file(path), .headers = {{"Accept", "application/octet-stream"}}};
  call.takes_file();
  auto stream = co_await server.stream(std::move(call));
  co_return stream;
}

Task<void> BlaxelProvider::upload(std::string id, std::string path, ByteSource& bytes) {
  RestApi server = co_await inside(id);
  std::string part = co_await next_blaxel_part(bytes);
  if (part.size() < kBlaxelPart) {
    co_await send_blaxel_part(server, blaxel_file(path), std::move(part));
    co_return;
  }
  const std::string initiate = "/filesystem-multipart/initiate/" + percent_encode(path);
  Json mode{{"permissions", "0644"}};
  const Json begun = co_await server.post(initiate, std::move(mode));
  const std::string name = text_of(begun, "uploadId");
  if (name.empty()) throw unexpected_answer("blaxel");
  const std::string upload = "/filesystem-multipart/" + percent_encode(name);
  const auto sent = co_await attempt(send_blaxel_parts(server, upload, std::move(part), bytes));
  const auto* error = std::get_if<Error>(&sent);
  if (!error) co_return;
  RestCall abort{.method = "DELETE", .path = upload + "/abort"};
  co_await attempt(server.call(std::move(abort)));
  throw *error;
}

}  // namespace sandgate
