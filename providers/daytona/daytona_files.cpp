#include "providers/byte_sources.hpp"
#include "providers/daytona/daytona.hpp"

// File transfers of DaytonaProvider.
namespace sandgate {

Task<std::unique_ptr<ByteSource>> DaytonaProvider::download(std::string id, std::string path) {
  RestApi api = co_await toolbox(id);
  RestCall call{.path = "/files/download?path=" + percent_encode(path)};
  call.takes_file();
  co_return co_await api.stream(std::move(call));
}

Task<void> DaytonaProvider::upload(std::string id, std::string path, ByteSource& bytes) {
  RestApi api = co_await toolbox(id);
  FormFile form(bytes, "file", "file");
  RestCall call{.method = "POST",
                .path = "/files/upload?path=" + percent_encode(path),
                .headers = {{"Content-Type", form.content_type()}}};
  call.sends_file(form);
  co_await api.call(std::move(call));
}

}  // namespace sandgate
