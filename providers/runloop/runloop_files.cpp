#include "providers/byte_sources.hpp"
#include "providers/runloop/runloop.hpp"

// File transfers of RunloopProvider.
namespace sandgate {

Task<std::unique_ptr<ByteSource>> RunloopProvider::download(std::string id, std::string path) {
  Json body{{"path", std::move(path)}};
  RestCall call{
      .method = "POST", .path = runloop::box_path(id) + "/download_file", .json = std::move(body)};
  call.takes_file();
  co_return co_await api_.stream(std::move(call));
}

Task<void> RunloopProvider::upload(std::string id, std::string path, ByteSource& bytes) {
  FormFile form(bytes, "file", "file", {{"path", path}});
  RestCall call{.method = "POST",
                .path = runloop::box_path(id) + "/upload_file",
                .headers = {{"Content-Type", form.content_type()}}};
  call.sends_file(form);
  co_await api_.call(std::move(call));
}

}  // namespace sandgate
