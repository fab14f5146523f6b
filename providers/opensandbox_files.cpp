#include "providers/byte_sources.hpp"
#include "providers/opensandbox.hpp"

// The transfers of OpenSandboxProvider.
namespace sandgate {
namespace {

// A transfer may take as long as bytes flow.
constexpr auto kOpenSandboxSilence = std::chrono::seconds(60);

}  // namespace

Task<std::unique_ptr<ByteSource>> OpenSandboxProvider::download(std::string id, std::string path) {
  RestApi inside = co_await execd(id);
  RestCall call{.path = "/files/download?path=" + percent_encode(path)};
  call.deadline = std::chrono::seconds(30);
  call.silence = kOpenSandboxSilence;
  co_return co_await inside.stream(std::move(call));
}

Task<void> OpenSandboxProvider::upload(std::string id, std::string path, ByteSource& bytes) {
  RestApi inside = co_await execd(id);
  // execd takes the metadata as a file.
  const Json metadata{{"path", path}};
  FormFile form(bytes, "file", "file", {{"metadata\"; filename=\"metadata", metadata.dump()}});
  RestCall call{.method = "POST",
                .path = "/files/upload",
                .headers = {{"Content-Type", form.content_type()}}};
  call.upload = &form;
  call.deadline = std::chrono::milliseconds(0);
  call.silence = kOpenSandboxSilence;
  const HttpReply reply = co_await inside.send(std::move(call));
  if (reply.status / 100 != 2) throw inside.failure(reply, "/files/upload");
}

}  // namespace sandgate
