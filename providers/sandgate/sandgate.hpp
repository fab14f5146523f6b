#pragma once
#include <atomic>
#include <memory>
#include <mutex>

#include "gateway/core/time.hpp"
#include "providers/provider.hpp"
#include "providers/transport/event_stream.hpp"
#include "providers/transport/rest_api.hpp"

namespace sandgate {

struct SandgateSettings {
  std::string url;  // of the other gateway, without a trailing slash
  std::string profile;  // the profile that our creates use there
  Secret api_key;
  bool allow_private = false;  // set for the operator's deployments
};

// Another gateway's v1 API as a backend. Sandboxes carry our id in metadata.sandgate_id and as
// Idempotency-Key, snapshots in their name. Process ids are the other gateway's; ours is the
// Idempotency-Key of a program that must not run twice. The descriptor is the other gateway's for
// our profile, without what cannot be forwarded. It is cached for 30 s, and longer while that
// gateway is unreachable; before the first answer it is empty and not `known`.
class SandgateProvider : public Provider, public std::enable_shared_from_this<SandgateProvider> {
 public:
  SandgateProvider(HttpClient& http, asio::any_io_executor executor, SandgateSettings settings);

  // Fetches the descriptor.
  Task<void> refresh();

  // Returns the cached descriptor; starts a refresh in the background if it is too old.
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

  // Returns a connection to the other gateway, which exposes the port.
  Task<PortConnection> dial(std::string id, uint16_t port) override;

  Task<SandboxMetrics> metrics(std::string id) override;
  Task<Keeps> pause(std::string id, Keeps keep) override;
  Task<void> resume(std::string id) override;
  Task<BackendSnapshot> snapshot(std::string id, std::string snapshot_id, Keeps keep,
                                 bool lasting) override;
  Task<std::optional<BackendSnapshot>> find_snapshot(std::string snapshot_id) override;
  Task<void> remove_snapshot(std::string snapshot) override;
  Task<void> extend(std::string id, std::chrono::seconds ttl) override;

 private:
  struct Change;
  void note_refresh(const Error* failure);
  struct PortToken {
    std::string token;
    std::chrono::steady_clock::time_point read_at;
  };

  std::unique_ptr<ProcessStream> process_at(std::string path, std::string process,
                                            std::unique_ptr<EventReader> events);
  Task<std::string> port_token(std::string id, uint16_t port);
  // Posts the verb and polls until the change is complete; returns the sandbox. Throws
  // Error(conflict) if the sandbox reverts to its earlier state, Error(not_found) if it ends
  // meanwhile.
  Task<BackendSandbox> change(std::string id, Json body, Change change);

  RestApi api_;
  const asio::any_io_executor executor_;
  const std::string profile_;
  mutable std::mutex mutex_;  // guards the four members below
  std::map<std::string, PortToken> port_tokens_;  // keyed by sandbox and port
  std::shared_ptr<const Descriptor> descriptor_;  // callers copy the descriptor without the lock
  std::chrono::steady_clock::time_point read_again_at_{};
  std::chrono::milliseconds retry_pause_{0};  // 0: the last refresh succeeded
  mutable std::atomic<bool> refreshing_{false};
};

}  // namespace sandgate
