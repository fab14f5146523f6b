#include "providers/byte_sources.hpp"
#include "providers/opensandbox/opensandbox.hpp"

// File transfers of OpenSandboxProvider.
namespace sandgate {

Task<std::unique_ptr<ByteSource>> OpenSandboxProvider::download(std::string id, std::string path) {
  RestApi inside = co_await execd(id);
  RestCall call{.path = "/files/download?path=" + percent_encode(path)};
  call.takes_file();
  co_return co_await inside.stream(std::move(call));
}

Task<void> OpenSandboxProvider::upload(std::string id, std::string path, ByteSource& bytes) {
  RestApi inside = co_await execd(id);
  // execd expects the metadata as a file part.
  const Json metadata{{"path", path}};
  FormFile form(bytes, "file", "file", {{"metadata\"; filename=\"metadata", metadata.dump()}});
  RestCall call{.method = "POST",
                .path = "/files/upload",
                .headers = {{"Content-Type", form.content_type()}}};
  call.sends_file(form);
  const HttpReply reply = co_await inside.send(std::move(call));
  if (reply.status / 100 != 2) throw inside.failure(reply, "/files/upload", /*sent=*/true);
}

}  // namespace sandgate
