#pragma once
#include <map>
#include <memory>
#include <mutex>

#include "providers/daytona_wire.hpp"
#include "providers/shell_files.hpp"
#include "providers/web_socket.hpp"

namespace sandgate {

struct DaytonaSettings {
  std::string api_url = "https://app.daytona.io/api";
  daytona::CreateRules rules;
  DescriptorLimits limits;
  bool process_limit = false;  // the operator knows that the account's containers have one
  Secret api_key;
  bool allow_private = false;  // an operator's deployment
};

// Daytona's 0.x API. Sandboxes carry our id as their unique name and as the label sandgate_id. A
// command is a session of its own whose log is followed over a WebSocket; the file verbs but the
// transfers are shell lines.
class DaytonaProvider : public Provider, public std::enable_shared_from_this<DaytonaProvider> {
 public:
  DaytonaProvider(HttpClient& http, asio::any_io_executor executor, DaytonaSettings settings);

  Descriptor descriptor() const override;
  Task<BackendSandbox> create(CreateSpec spec) override;
  Task<std::optional<BackendSandbox>> find(std::string id) override;
  Task<std::optional<BackendSandbox>> find_by_tag(std::string sandbox_id) override;
  Task<std::vector<BackendSandbox>> list() override;
  Task<void> kill(std::string id) override;

  Task<std::unique_ptr<ProcessStream>> exec(std::string id, Command command) override;

  Task<FileContent> read_file(std::string id, std::string path, ByteRange range) override;
  Task<FileEntry> write_file(std::string id, std::string path, uint32_t mode,
                             ByteSource& bytes) override;
  Task<FileEntry> stat(std::string id, std::string path) override;
  Task<std::vector<FileEntry>> list_files(std::string id, std::string path, int depth) override;
  Task<FileEntry> make_directory(std::string id, std::string path) override;
  Task<FileEntry> move(std::string id, std::string from, std::string to) override;
  Task<void> remove(std::string id, std::string path, bool recursive) override;

  Task<Keeps> pause(std::string id, Keeps keep) override;
  Task<void> resume(std::string id) override;

  Task<void> extend(std::string id, std::chrono::seconds ttl) override;

  // The API inside one sandbox; Error(not_found) when the sandbox is not there.
  Task<RestApi> toolbox(std::string id);
  struct Ran {
    int status = 0;
    std::string output;
  };
  // A shell line to its end.
  Task<Ran> run(std::string id, std::string line);
  // A WebSocket of the toolbox.
  Task<std::unique_ptr<WebSocket>> follow(std::string id, std::string path);
  const asio::any_io_executor& executor() const { return executor_; }

 private:
  Task<daytona::Box> started(daytona::Box box);
  Task<std::optional<daytona::Box>> box_of(std::string id_or_name);
  Task<void> until(std::string id, BackendState state);
  Task<std::string> toolbox_url(std::string id);
  void remember(const daytona::Box& box);
  shell::ShellFiles files(const std::string& id);

  HttpClient& http_;
  const asio::any_io_executor executor_;
  const DaytonaSettings settings_;
  RestApi api_;
  std::mutex mutex_;
  std::map<std::string, std::string> toolboxes_;  // by id; bounded, what is missing is asked again
};

}  // namespace sandgate
