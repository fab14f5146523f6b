// The calls of LocalProvider that go directly to the sandbox's agent.
#include <filesystem>

#include "local/local_provider.hpp"
#include "local/node/settings.hpp"

namespace sandgate {

AgentClient LocalProvider::agent(const std::string& handle) const {
  const std::string id = id_of(handle);
  if (!is_safe_name(id)) throw Error::not_found("sandbox", id);
  // Resolve the symlink: its target is short, and a socket address holds 107 bytes only.
  std::error_code plain;
  const auto memory = std::filesystem::read_symlink(settings_.sandboxes_dir, plain);
  const std::string directory = memory.empty() ? settings_.sandboxes_dir : memory.string();
  return AgentClient(directory + "/" + id + "/agent.sock",
                     [space = &space_] { return space->is_scarce(); });
}

Task<std::unique_ptr<ProcessStream>> LocalProvider::exec(std::string id, Command command) {
  return agent(id).exec(std::move(command));
}

Task<std::unique_ptr<ProcessStream>> LocalProvider::attach(std::string id, std::string process,
                                                           uint64_t from) {
  return agent(id).attach(std::move(process), from);
}

Task<std::vector<ProcessInfo>> LocalProvider::processes(std::string id) {
  return agent(id).processes();
}

Task<ProcessInfo> LocalProvider::process(std::string id, std::string process) {
  return agent(id).process(std::move(process));
}

Task<void> LocalProvider::signal(std::string id, std::string process, int number) {
  return agent(id).signal(std::move(process), number);
}

Task<void> LocalProvider::write_stdin(std::string id, std::string process, std::string bytes) {
  return agent(id).write_stdin(std::move(process), std::move(bytes));
}

Task<void> LocalProvider::close_stdin(std::string id, std::string process) {
  return agent(id).close_stdin(std::move(process));
}

Task<void> LocalProvider::resize(std::string id, std::string process, PtySize size) {
  return agent(id).resize(std::move(process), size);
}

Task<FileContent> LocalProvider::read_file(std::string id, std::string path, ByteRange range) {
  return agent(id).read_file(std::move(path), range);
}

Task<FileEntry> LocalProvider::write_file(std::string id, std::string path, uint32_t mode,
                                          ByteSource& bytes) {
  return agent(id).write_file(std::move(path), mode, bytes);
}

Task<FileEntry> LocalProvider::stat(std::string id, std::string path) {
  return agent(id).stat(std::move(path));
}

Task<std::vector<FileEntry>> LocalProvider::list_files(std::string id, std::string path,
                                                       int depth) {
  return agent(id).list_files(std::move(path), depth);
}

Task<FileEntry> LocalProvider::make_directory(std::string id, std::string path) {
  return agent(id).make_directory(std::move(path));
}

Task<FileEntry> LocalProvider::move(std::string id, std::string from, std::string to) {
  return agent(id).move(std::move(from), std::move(to));
}

Task<void> LocalProvider::remove(std::string id, std::string path, bool recursive) {
  return agent(id).remove(std::move(path), recursive);
}

Task<std::unique_ptr<ByteSource>> LocalProvider::read_archive(std::string id, std::string path) {
  return agent(id).read_archive(std::move(path));
}

Task<void> LocalProvider::write_archive(std::string id, std::string path, ByteSource& tar) {
  return agent(id).write_archive(std::move(path), tar);
}

Task<std::unique_ptr<FileWatch>> LocalProvider::watch(std::string id, std::string path,
                                                      bool recursive) {
  return agent(id).watch(std::move(path), recursive);
}

Task<PortConnection> LocalProvider::dial(std::string id, uint16_t port) {
  PortConnection connection;
  const AgentClient client = agent(id);
  Fd socket = co_await client.dial(port);
  connection.socket = std::move(socket);
  co_return connection;
}

}  // namespace sandgate
