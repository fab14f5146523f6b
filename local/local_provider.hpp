#pragma once
#include <memory>
#include <mutex>
#include <string>

#include "local/agent/client/client.hpp"
#include "local/node/server/client.hpp"
#include "local/node/storage/disk_space.hpp"
#include "providers/provider.hpp"

namespace sandgate {

struct LocalProviderSettings {
  std::string node_socket;  // as the node's settings name it
  std::string sandboxes_dir;  // the node's run_dir + "/sandboxes"
  std::string egress_socket;  // the node's run_dir + "/egress.sock"
  // Name of this machine among gateways that share a database: [a-z0-9]; empty: the only one.
  std::string machine;
  std::function<void()> on_return;  // called when the node answers after an outage or restart
  std::string data_dir;  // the node's, for disk(); empty: free space is not watched
  int64_t disk_floor_mib = 0;  // the node's
};

// The provider of sandboxes on this machine. The node creates and ends them; exec and file calls go
// directly to the sandbox's agent, so they work while the node is down. A backend id is the id of
// the sandbox or snapshot, followed by '@' and the machine if it has a name (snapshots of earlier
// releases name none). Calls for one of another machine throw Error(unavailable), not not_found.
class LocalProvider : public Provider {
 public:
  explicit LocalProvider(LocalProviderSettings settings);

  // Fetches the node's descriptor. Before the first success the descriptor declares no verbs, so no
  // profile is placed here. Throws Error: unavailable when the node is not running, timeout.
  Task<void> refresh();
  // Calls refresh() forever, every ten seconds, or every 200 ms while the node does not answer. A
  // call that finds the node down triggers a refresh within 200 ms. To be spawned.
  Task<void> keep_fresh();

  // Makes running sandboxes trust the authority that ends their TLS, where they do not yet: after a
  // restart of the egress process. Paused ones follow in a call after they are resumed. To be
  // called periodically. Throws Error(unavailable) when there is no egress process.
  Task<void> install_authorities();

  Descriptor descriptor() const override;
  std::optional<DiskSpace::Status> disk() const { return space_.status(); }  // of data_dir

  Task<BackendSandbox> create(CreateSpec spec) override;
  std::optional<BackendSandbox> predict_create(const CreateSpec& spec) const override;
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
  Task<std::vector<std::string>> deaths() override;
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

 private:
  // Gives the egress process a sandbox's secrets. Returns the certificate of its authority.
  Task<std::string> give_secrets(std::string id, SecretGrants secrets);
  Task<void> give_and_install(std::string id, SecretGrants secrets);
  // Makes the sandbox trust it, and tells the egress process. Throws Error: timeout after 5 s.
  Task<void> install(std::string id, std::string certificate);
  Task<void> install_late(std::string id, std::string certificate);
  Task<void> tell_trusted(std::string id, std::string certificate);
  // Calls a verb that the node answers quickly. Throws Error(timeout) after 5 s.
  Task<Json> ask(std::string verb, Json params = Json::object());
  // Convert the node's id to a backend id and back. id_of() throws Error(unavailable) for another
  // machine's.
  std::string handle_of(std::string id) const;
  std::string id_of(const std::string& handle) const;
  BackendSandbox to_sandbox(const Json& answer) const;
  BackendSnapshot to_snapshot(const Json& answer) const;
  // Throws Error(not_found) for a malformed id, because it becomes part of a path.
  AgentClient agent(const std::string& handle) const;

  const LocalProviderSettings settings_;
  const NodeClient node_;
  const NodeClient egress_;  // the only process that gets secret values
  const DiskSpace space_;
  std::string instance_;  // identifies the node's process; used by refresh() only
  mutable std::mutex mutex_;
  std::shared_ptr<const Descriptor> descriptor_;  // the pointer is guarded by mutex_
};

}  // namespace sandgate
