#include "providers/byte_sources.hpp"
#include "providers/daytona.hpp"

// The file verbs of DaytonaProvider.
namespace sandgate {
namespace {

// A transfer may take as long as bytes flow.
constexpr auto kDaytonaSilence = std::chrono::seconds(60);

}  // namespace

shell::ShellFiles DaytonaProvider::files(const std::string& id) {
  auto print = [](std::shared_ptr<DaytonaProvider> self, std::string box,
                  std::string line) -> Task<std::string> {
    Ran ran = co_await self->run(std::move(box), std::move(line));
    co_return std::move(ran.output);
  };
  return shell::ShellFiles([self = shared_from_this(), id, print](std::string line) {
    return print(self, id, std::move(line));
  });
}

Task<FileContent> DaytonaProvider::read_file(std::string id, std::string path, ByteRange range) {
  shell::ShellFiles here = files(id);
  FileContent content;
  content.entry = co_await here.stat(path, /*follow=*/true);
  if (content.entry.type == FileType::directory) throw Error::invalid("/path", "is a directory");
  content.bytes = std::make_unique<TextBytes>();
  if (range.first >= content.entry.size) co_return content;
  RestApi api = co_await toolbox(id);
  RestCall call{.path = "/files/download?path=" + percent_encode(content.entry.path)};
  call.deadline = std::chrono::seconds(30);
  call.silence = kDaytonaSilence;
  auto stream = co_await api.stream(std::move(call));
  const uint64_t limit = range.last ? *range.last - range.first + 1 : UINT64_MAX;
  content.bytes = std::make_unique<PartOfBytes>(std::move(stream), range.first, limit);
  co_return content;
}

Task<FileEntry> DaytonaProvider::write_file(std::string id, std::string path, uint32_t mode,
                                            ByteSource& bytes) {
  shell::ShellFiles here = files(id);
  const std::string place = co_await here.place_for(path);
  RestApi api = co_await toolbox(id);
  FormFile form(bytes, "file", "file");
  RestCall call{.method = "POST",
                .path = "/files/upload?path=" + percent_encode(place),
                .headers = {{"Content-Type", form.content_type()}}};
  call.upload = &form;
  call.deadline = std::chrono::milliseconds(0);
  call.silence = kDaytonaSilence;
  co_await api.call(std::move(call));
  co_return co_await here.publish(place, path, mode);
}

Task<FileEntry> DaytonaProvider::stat(std::string id, std::string path) {
  shell::ShellFiles here = files(id);
  co_return co_await here.stat(std::move(path));
}

Task<std::vector<FileEntry>> DaytonaProvider::list_files(std::string id, std::string path,
                                                         int depth) {
  shell::ShellFiles here = files(id);
  co_return co_await here.list(std::move(path), depth);
}

Task<FileEntry> DaytonaProvider::make_directory(std::string id, std::string path) {
  shell::ShellFiles here = files(id);
  co_return co_await here.make_directory(std::move(path));
}

Task<FileEntry> DaytonaProvider::move(std::string id, std::string from, std::string to) {
  shell::ShellFiles here = files(id);
  co_return co_await here.move(std::move(from), std::move(to));
}

Task<void> DaytonaProvider::remove(std::string id, std::string path, bool recursive) {
  shell::ShellFiles here = files(id);
  co_await here.remove(std::move(path), recursive);
}

}  // namespace sandgate
