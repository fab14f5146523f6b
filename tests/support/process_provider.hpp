#pragma once
#include <map>
#include <memory>
#include <string>

#include "providers/provider.hpp"

namespace sandgate::test {

// A small backend that runs commands as child processes in one scratch directory per sandbox,
// without isolation. Offers no archive and no metrics and does not declare them. Runs on the given
// executor.
class ProcessProvider : public Provider {
 public:
  ProcessProvider(asio::any_io_executor executor, std::string directory);
  ~ProcessProvider() override;

  Descriptor descriptor() const override;
  Task<BackendSandbox> create(CreateSpec spec) override;
  Task<std::optional<BackendSandbox>> find(std::string id) override;
  Task<std::optional<BackendSandbox>> find_by_tag(std::string sandbox_id) override;
  Task<std::vector<BackendSandbox>> list() override;
  Task<void> kill(std::string id) override;

  Task<std::unique_ptr<ProcessStream>> exec(std::string id, Command command) override;
  Task<std::unique_ptr<ProcessStream>> attach(std::string id, std::string process,
                                              uint64_t from) override;
  Task<std::vector<ProcessInfo>> processes(std::string id) override;
  Task<void> signal(std::string id, std::string process, int number) override;
  Task<void> write_stdin(std::string id, std::string process, std::string bytes) override;
  Task<void> close_stdin(std::string id, std::string process) override;

  Task<FileContent> read_file(std::string id, std::string path, ByteRange range) override;
  Task<FileEntry> write_file(std::string id, std::string path, uint32_t mode,
                             ByteSource& bytes) override;
  Task<FileEntry> stat(std::string id, std::string path) override;
  Task<std::vector<FileEntry>> list_files(std::string id, std::string path, int depth) override;
  Task<FileEntry> make_directory(std::string id, std::string path) override;
  Task<FileEntry> move(std::string id, std::string from, std::string to) override;
  Task<void> remove(std::string id, std::string path, bool recursive) override;
  Task<PortConnection> dial(std::string id, uint16_t port) override;  // on this host

  // pause() stops the processes; a snapshot is a copy of the directory.
  Task<Keeps> pause(std::string id, Keeps keep) override;
  Task<void> resume(std::string id) override;
  Task<BackendSnapshot> snapshot(std::string id, std::string snapshot_id, Keeps keep,
                                 bool lasting) override;
  Task<std::optional<BackendSnapshot>> find_snapshot(std::string snapshot_id) override;
  Task<void> remove_snapshot(std::string snapshot) override;

 private:
  struct Box {
    CreateSpec spec;
    std::string home;
    bool paused = false;
    std::map<std::string, std::shared_ptr<class HostProcess>> processes;
  };
  Box& box(const std::string& id);
  std::shared_ptr<HostProcess> started(const std::string& id, const std::string& process);
  // Maps relative paths to the sandbox's home, and absolute paths to below it too.
  std::string host_path(const std::string& id, const std::string& path);
  void restore(const std::string& snapshot, const std::string& home);
  static BackendSandbox shown(const std::string& id, const Box& box);

  asio::any_io_executor executor_;
  std::string directory_;
  std::map<std::string, Box> boxes_;
};

}  // namespace sandgate::test
