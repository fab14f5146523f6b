#include "providers/byte_sources.hpp"
#include "providers/runloop.hpp"

// The file verbs of RunloopProvider.
namespace sandgate {
namespace {

// A transfer may take as long as bytes flow.
constexpr auto kRunloopSilence = std::chrono::seconds(60);

}  // namespace

shell::ShellFiles RunloopProvider::files(const std::string& id) {
  auto print = [](std::shared_ptr<RunloopProvider> self, std::string box,
                  std::string line) -> Task<std::string> {
    Ran ran = co_await self->run(std::move(box), std::move(line));
    co_return std::move(ran.output);
  };
  return shell::ShellFiles([self = shared_from_this(), id, print](std::string line) {
    return print(self, id, std::move(line));
  });
}

Task<FileContent> RunloopProvider::read_file(std::string id, std::string path, ByteRange range) {
  shell::ShellFiles here = files(id);
  FileContent content;
  content.entry = co_await here.stat(path, /*follow=*/true);
  if (content.entry.type == FileType::directory) throw Error::invalid("/path", "is a directory");
  content.bytes = std::make_unique<TextBytes>();
  if (range.first >= content.entry.size) co_return content;
  Json body{{"path", content.entry.path}};
  RestCall call{
      .method = "POST", .path = runloop::box_path(id) + "/download_file", .json = std::move(body)};
  call.deadline = std::chrono::seconds(30);
  call.silence = kRunloopSilence;
  auto stream = co_await api_.stream(std::move(call));
  const uint64_t limit = range.last ? *range.last - range.first + 1 : UINT64_MAX;
  content.bytes = std::make_unique<PartOfBytes>(std::move(stream), range.first, limit);
  co_return content;
}

Task<FileEntry> RunloopProvider::write_file(std::string id, std::string path, uint32_t mode,
                                            ByteSource& bytes) {
  shell::ShellFiles here = files(id);
  const std::string place = co_await here.place_for(path);
  FormFile form(bytes, "file", "file", {{"path", place}});
  RestCall call{.method = "POST",
                .path = runloop::box_path(id) + "/upload_file",
                .headers = {{"Content-Type", form.content_type()}}};
  call.upload = &form;
  call.deadline = std::chrono::milliseconds(0);
  call.silence = kRunloopSilence;
  co_await api_.call(std::move(call));
  co_return co_await here.publish(place, path, mode);
}

Task<FileEntry> RunloopProvider::stat(std::string id, std::string path) {
  shell::ShellFiles here = files(id);
  co_return co_await here.stat(std::move(path));
}

Task<std::vector<FileEntry>> RunloopProvider::list_files(std::string id, std::string path,
                                                         int depth) {
  shell::ShellFiles here = files(id);
  co_return co_await here.list(std::move(path), depth);
}

Task<FileEntry> RunloopProvider::make_directory(std::string id, std::string path) {
  shell::ShellFiles here = files(id);
  co_return co_await here.make_directory(std::move(path));
}

Task<FileEntry> RunloopProvider::move(std::string id, std::string from, std::string to) {
  shell::ShellFiles here = files(id);
  co_return co_await here.move(std::move(from), std::move(to));
}

Task<void> RunloopProvider::remove(std::string id, std::string path, bool recursive) {
  shell::ShellFiles here = files(id);
  co_await here.remove(std::move(path), recursive);
}

}  // namespace sandgate
