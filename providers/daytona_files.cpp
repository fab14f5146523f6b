#include "providers/byte_sources.hpp"
#include "providers/daytona.hpp"

// The transfers of DaytonaProvider.
namespace sandgate {
namespace {

// A transfer may take as long as bytes flow.
constexpr auto kDaytonaSilence = std::chrono::seconds(60);

}  // namespace

Task<std::unique_ptr<ByteSource>> DaytonaProvider::download(std::string id, std::string path) {
  RestApi api = co_await toolbox(id);
  RestCall call{.path = "/files/download?path=" + percent_encode(path)};
  call.deadline = std::chrono::seconds(30);
  call.silence = kDaytonaSilence;
  co_return co_await api.stream(std::move(call));
}

Task<void> DaytonaProvider::upload(std::string id, std::string path, ByteSource& bytes) {
  RestApi api = co_await toolbox(id);
  FormFile form(bytes, "file", "file");
  RestCall call{.method = "POST",
                .path = "/files/upload?path=" + percent_encode(path),
                .headers = {{"Content-Type", form.content_type()}}};
  call.upload = &form;
  call.deadline = std::chrono::milliseconds(0);
  call.silence = kDaytonaSilence;
  co_await api.call(std::move(call));
}

}  // namespace sandgate
