#pragma once
#include <memory>
#include <mutex>
#include <string>

#include "local/agent/client.hpp"
#include "local/node/client.hpp"
#include "local/node/disk_space.hpp"
#include "providers/provider.hpp"

namespace sandgate {

struct LocalProviderSettings {
  std::string node_socket;  // as the node's settings name it
  std::string sandboxes_dir;  // the node's run_dir + "/sandboxes"
  std::string egress_socket;  // the node's run_dir + "/egress.sock"
  // Whose node it is among gateways of one database: [a-z0-9]; empty where there is one only.
  std::string machine;
  std::function<void()> on_return;  // called when the node was away, or started anew, and is back
  std::string data_dir;  // the node's; with the next what it keeps free. Empty: not looked at
  int64_t disk_floor_mib = 0;
};

// This machine as a backend. Making and ending sandboxes is the node's work; exec and files go
// straight to the sandbox's agent, so they outlive the node. A backend id is our sandbox's id and,
// behind an @, the machine: a sandbox of another one is Error(unavailable) here, not unknown.
class LocalProvider : public Provider {
 public:
  explicit LocalProvider(LocalProviderSettings settings);

  // Asks the node what it can do. Until it was asked once, the descriptor declares no verb, so no
  // profile is placed here. Throws Error(unavailable) when the node is away.
  Task<void> refresh();
  // refresh() for ever, every ten seconds (five times a second while the node is away, of which the
  // first call that fails tells); to be spawned.
  Task<void> keep_fresh();

  Descriptor descriptor() const override;
  std::optional<DiskSpace::Look> disk() const { return space_.look(); }  // the node's

  Task<BackendSandbox> create(CreateSpec spec) override;
  std::optional<BackendSandbox> foreseen(const CreateSpec& spec) const override;
  Task<std::optional<BackendSandbox>> find(std::string id) override;
  Task<std::optional<BackendSandbox>> find_by_tag(std::string sandbox_id) override;
  Task<std::vector<BackendSandbox>> list() override;
  Task<void> kill(std::string id) override;

  Task<std::unique_ptr<ProcessStream>> exec(std::string id, Command command) override;
  Task<std::unique_ptr<ProcessStream>> attach(std::string id, std::string process,
                                              uint64_t from) override;
  Task<std::vector<ProcessInfo>> processes(std::string id) override;
  Task<ProcessInfo> process(std::string id, std::string process) override;
  Task<void> signal(std::string id, std::string process, int number) override;
  Task<void> write_stdin(std::string id, std::string process, std::string bytes) override;
  Task<void> close_stdin(std::string id, std::string process) override;
  Task<void> resize(std::string id, std::string process, PtySize size) override;

  Task<FileContent> read_file(std::string id, std::string path, ByteRange range) override;
  Task<FileEntry> write_file(std::string id, std::string path, uint32_t mode,
                             ByteSource& bytes) override;
  Task<FileEntry> stat(std::string id, std::string path) override;
  Task<std::vector<FileEntry>> list_files(std::string id, std::string path, int depth) override;
  Task<FileEntry> make_directory(std::string id, std::string path) override;
  Task<FileEntry> move(std::string id, std::string from, std::string to) override;
  Task<void> remove(std::string id, std::string path, bool recursive) override;
  Task<std::unique_ptr<ByteSource>> read_archive(std::string id, std::string path) override;
  Task<void> write_archive(std::string id, std::string path, ByteSource& tar) override;

  Task<std::unique_ptr<FileWatch>> watch(std::string id, std::string path, bool recursive) override;
  Task<PortConnection> dial(std::string id, uint16_t port) override;

  Task<SandboxMetrics> metrics(std::string id) override;
  Task<SandboxMetrics> finish(std::string id) override;
  Task<Keeps> pause(std::string id, Keeps keep) override;
  Task<void> resume(std::string id) override;
  Task<BackendSnapshot> snapshot(std::string id, std::string snapshot_id, Keeps keep,
                                 bool lasting) override;
  Task<std::optional<BackendSnapshot>> find_snapshot(std::string snapshot_id) override;
  Task<void> remove_snapshot(std::string snapshot) override;
  Task<NetworkState> network(std::string id) override;
  Task<void> set_network(std::string id, NetworkPolicy policy) override;
  Task<std::map<std::string, std::string>> secret_revisions() override;
  Task<void> set_secrets(std::string id, SecretGrants secrets) override;
  Task<void> extend(std::string id, std::chrono::seconds ttl) override;

  const NodeClient& node() const { return node_; }

 private:
  // A call that the node answers at once unless it hangs: Error(timeout) then.
  Task<Json> ask(std::string verb, Json params = Json::object());
  // A backend id from the id that the node knows, and back; id_of throws Error(unavailable).
  std::string handle_of(std::string id) const;
  std::string id_of(const std::string& handle) const;
  BackendSandbox to_sandbox(const Json& answer) const;
  // Throws Error(not_found) for what cannot be one of our ids: it becomes part of a path.
  AgentClient agent(const std::string& handle) const;

  const LocalProviderSettings settings_;
  const NodeClient node_;
  const NodeClient egress_;  // secrets' values go to that process alone
  const DiskSpace space_;
  std::atomic<bool> missed_{false};  // a call found no node
  std::string instance_;  // of the node's process; refresh() only
  mutable std::mutex mutex_;
  std::shared_ptr<const Descriptor> descriptor_;  // guarded by mutex_, what it points to is not
};

}  // namespace sandgate
