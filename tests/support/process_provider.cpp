#include "tests/support/process_provider.hpp"

#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "gateway/core/utf8.hpp"
#include "tests/support/host_process.hpp"

namespace sandgate::test {
namespace {

namespace fs = std::filesystem;

class HostStream : public ProcessStream {
 public:
  HostStream(std::shared_ptr<HostProcess> process, uint64_t from)
      : process_(std::move(process)), offset_(from) {}
  ~HostStream() override { process_->detach(); }
  Task<std::optional<ProcessEvent>> next() override { return process_->next(offset_, exited_); }
  Task<void> write_stdin(std::string bytes) override { return process_->write(std::move(bytes)); }
  Task<void> close_stdin() override {
    process_->close_stdin();
    co_return;
  }

 private:
  std::shared_ptr<HostProcess> process_;
  uint64_t offset_;
  bool exited_ = false;
};

class FileSource : public ByteSource {
 public:
  FileSource(const std::string& path, ByteRange range) : file_(path, std::ios::binary) {
    file_.seekg(static_cast<std::streamoff>(range.first));
    if (range.last) left_ = *range.last - range.first + 1;
  }
  Task<size_t> read(std::span<char> into) override {
    file_.read(into.data(), static_cast<std::streamsize>(std::min<uint64_t>(into.size(), left_)));
    const auto count = static_cast<size_t>(file_.gcount());
    left_ -= count;
    co_return count;
  }

 private:
  std::ifstream file_;
  uint64_t left_ = UINT64_MAX;
};

FileEntry entry_at(const std::string& host, const std::string& home) {
  struct stat info;
  if (lstat(host.c_str(), &info) != 0) throw Error(ErrorCode::not_found, "no such file");
  FileEntry entry;
  // As an agent tells them.
  entry.name = to_utf8(fs::path(host).filename().string());
  entry.path = "/" + to_utf8(fs::path(host).lexically_relative(home).string());
  entry.type = S_ISREG(info.st_mode)   ? FileType::file
               : S_ISDIR(info.st_mode) ? FileType::directory
               : S_ISLNK(info.st_mode) ? FileType::symlink
                                       : FileType::other;
  entry.size = static_cast<uint64_t>(info.st_size);
  entry.mode = info.st_mode & 07777;
  entry.modified_at = from_micros(info.st_mtim.tv_sec * 1'000'000 + info.st_mtim.tv_nsec / 1000);
  entry.revision = std::to_string(info.st_ino) + "." + std::to_string(info.st_ctim.tv_sec) + "." +
                   std::to_string(info.st_ctim.tv_nsec);
  if (entry.type == FileType::symlink) entry.target = fs::read_symlink(host);
  return entry;
}

}  // namespace

ProcessProvider::ProcessProvider(asio::any_io_executor executor, std::string directory)
    : executor_(std::move(executor)), directory_(std::move(directory)) {
  ::signal(SIGPIPE, SIG_IGN);
}

ProcessProvider::~ProcessProvider() {
  for (auto& [id, box] : boxes_)
    for (auto& [pid, process] : box.processes) process->signal(SIGKILL);
}

Descriptor ProcessProvider::descriptor() const {
  Descriptor descriptor;
  descriptor.provider = "process";
  descriptor.isolation = Isolation::process;
  for (const Verb verb :
       {Verb::exec, Verb::background, Verb::stdin_, Verb::signal, Verb::files, Verb::ports})
    descriptor.verbs[verb] = Keeps::nothing;
  descriptor.verbs[Verb::pause] = Keeps::memory;
  descriptor.verbs[Verb::snapshot] = descriptor.verbs[Verb::fork] = Keeps::disk;
  return descriptor;
}

ProcessProvider::Box& ProcessProvider::box(const std::string& id) {
  const auto found = boxes_.find(id);
  if (found == boxes_.end()) throw Error::not_found("sandbox", id);
  return found->second;
}

std::shared_ptr<HostProcess> ProcessProvider::started(const std::string& id,
                                                      const std::string& process) {
  auto& all = box(id).processes;
  const auto found = all.find(process);
  if (found == all.end()) throw Error::not_found("process", process);
  return found->second;
}

std::string ProcessProvider::host_path(const std::string& id, const std::string& path) {
  const std::string& home = box(id).home;
  const std::string host = (fs::path(home) / fs::path(path).relative_path()).lexically_normal();
  if (!host.starts_with(home)) throw Error::invalid("/path", "leads outside");
  return host.ends_with('/') ? host.substr(0, host.size() - 1) : host;
}

Task<BackendSandbox> ProcessProvider::create(CreateSpec spec) {
  const std::string id = "box-" + spec.sandbox_id;
  Box& made = boxes_[id];
  made.home = directory_ + "/" + id;
  made.spec = std::move(spec);
  fs::create_directories(made.home);
  if (!made.spec.snapshot.empty()) restore(made.spec.snapshot, made.home);
  co_return shown(id, made);
}

Task<std::optional<BackendSandbox>> ProcessProvider::find(std::string id) {
  const auto found = boxes_.find(id);
  if (found == boxes_.end()) co_return std::nullopt;
  co_return shown(id, found->second);
}

Task<std::optional<BackendSandbox>> ProcessProvider::find_by_tag(std::string sandbox_id) {
  return find("box-" + sandbox_id);
}

Task<std::vector<BackendSandbox>> ProcessProvider::list() {
  std::vector<BackendSandbox> all;
  for (const auto& [id, box] : boxes_) all.push_back(shown(id, box));
  co_return all;
}

Task<void> ProcessProvider::kill(std::string id) {
  const auto found = boxes_.find(id);
  if (found == boxes_.end()) co_return;
  for (auto& [pid, process] : found->second.processes) process->signal(SIGKILL);
  fs::remove_all(found->second.home);
  boxes_.erase(found);
}

Task<std::unique_ptr<ProcessStream>> ProcessProvider::exec(std::string id, Command command) {
  Box& owner = box(id);
  for (const auto& [name, value] : owner.spec.env) command.env.emplace(name, value);
  const std::string name = command.process_id;
  auto started = std::make_shared<HostProcess>(executor_, std::move(command), owner.home);
  started->start();
  owner.processes[name] = started;
  co_return std::make_unique<HostStream>(std::move(started), 0);
}

Task<std::unique_ptr<ProcessStream>> ProcessProvider::attach(std::string id, std::string name,
                                                             uint64_t from) {
  co_return std::make_unique<HostStream>(started(id, name), from);
}

Task<std::vector<ProcessInfo>> ProcessProvider::processes(std::string id) {
  std::vector<ProcessInfo> all;
  for (const auto& [name, process] : box(id).processes) all.push_back(process->info());
  co_return all;
}

Task<void> ProcessProvider::signal(std::string id, std::string name, int number) {
  started(id, name)->signal(number);
  co_return;
}

Task<void> ProcessProvider::write_stdin(std::string id, std::string name, std::string bytes) {
  const auto target = started(id, name);
  co_await target->write(std::move(bytes));
}

Task<void> ProcessProvider::close_stdin(std::string id, std::string name) {
  started(id, name)->close_stdin();
  co_return;
}

Task<FileContent> ProcessProvider::read_file(std::string id, std::string path, ByteRange range) {
  const std::string host = host_path(id, path);
  FileContent content;
  content.entry = entry_at(host, box(id).home);
  if (content.entry.type == FileType::directory) throw Error(ErrorCode::invalid, "is a directory");
  content.bytes = std::make_unique<FileSource>(host, range);
  co_return content;
}

Task<FileEntry> ProcessProvider::write_file(std::string id, std::string path, uint32_t mode,
                                            ByteSource& bytes) {
  const std::string host = host_path(id, path), home = box(id).home;
  if (fs::is_directory(host)) throw Error(ErrorCode::invalid, "is a directory");
  fs::create_directories(fs::path(host).parent_path());
  const std::string part = host + ".part";
  {
    std::ofstream file(part, std::ios::binary);
    std::vector<char> buffer(256 << 10);
    for (;;) {
      const size_t count = co_await bytes.read(buffer);
      if (count == 0) break;
      file.write(buffer.data(), static_cast<std::streamsize>(count));
    }
  }
  chmod(part.c_str(), mode);
  fs::rename(part, host);
  co_return entry_at(host, home);
}

Task<FileEntry> ProcessProvider::stat(std::string id, std::string path) {
  co_return entry_at(host_path(id, path), box(id).home);
}

Task<std::vector<FileEntry>> ProcessProvider::list_files(std::string id, std::string path,
                                                         int depth) {
  const std::string host = host_path(id, path);
  const std::string home = box(id).home;
  if (entry_at(host, home).type != FileType::directory)
    throw Error(ErrorCode::invalid, "is not a directory");
  std::vector<FileEntry> all;
  for (auto item = fs::recursive_directory_iterator(host); item != fs::end(item); ++item) {
    all.push_back(entry_at(item->path(), home));
    if (item.depth() + 1 >= depth) item.disable_recursion_pending();
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  co_return all;
}

Task<FileEntry> ProcessProvider::make_directory(std::string id, std::string path) {
  const std::string host = host_path(id, path);
  fs::create_directories(host);
  co_return entry_at(host, box(id).home);
}

Task<FileEntry> ProcessProvider::move(std::string id, std::string from, std::string to) {
  const std::string source = host_path(id, from), target = host_path(id, to);
  const std::string home = box(id).home;
  entry_at(source, home);
  fs::create_directories(fs::path(target).parent_path());
  fs::rename(source, target);
  co_return entry_at(target, home);
}

Task<void> ProcessProvider::remove(std::string id, std::string path, bool recursive) {
  const std::string host = host_path(id, path);
  const FileEntry entry = entry_at(host, box(id).home);
  if (entry.type == FileType::directory && !recursive && !fs::is_empty(host))
    throw Error(ErrorCode::conflict, "the directory is not empty");
  fs::remove_all(host);
  co_return;
}

Task<PortConnection> ProcessProvider::dial(std::string id, uint16_t port) {
  box(id);
  asio::ip::tcp::socket socket(co_await asio::this_coro::executor);
  const asio::ip::tcp::endpoint address(asio::ip::address_v4::loopback(), port);
  const auto [failure] =
      co_await socket.async_connect(address, asio::as_tuple(asio::use_awaitable));
  if (failure) throw Error(ErrorCode::unavailable, "nothing listens on this port");
  PortConnection connection;
  connection.socket = Fd(socket.release());
  co_return connection;
}

}  // namespace sandgate::test
