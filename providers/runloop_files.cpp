#include "providers/byte_sources.hpp"
#include "providers/runloop.hpp"

// The transfers of RunloopProvider.
namespace sandgate {
namespace {

// A transfer may take as long as bytes flow.
constexpr auto kRunloopSilence = std::chrono::seconds(60);

}  // namespace

Task<std::unique_ptr<ByteSource>> RunloopProvider::download(std::string id, std::string path) {
  Json body{{"path", std::move(path)}};
  RestCall call{
      .method = "POST", .path = runloop::box_path(id) + "/download_file", .json = std::move(body)};
  call.deadline = std::chrono::seconds(30);
  call.silence = kRunloopSilence;
  co_return co_await api_.stream(std::move(call));
}

Task<void> RunloopProvider::upload(std::string id, std::string path, ByteSource& bytes) {
  FormFile form(bytes, "file", "file", {{"path", path}});
  RestCall call{.method = "POST",
                .path = runloop::box_path(id) + "/upload_file",
                .headers = {{"Content-Type", form.content_type()}}};
  call.upload = &form;
  call.deadline = std::chrono::milliseconds(0);
  call.silence = kRunloopSilence;
  co_await api_.call(std::move(call));
}

}  // namespace sandgate
