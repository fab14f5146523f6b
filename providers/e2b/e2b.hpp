#pragma once
#include <memory>

#include "providers/e2b/e2b_wire.hpp"
#include "providers/sandbox_data_cache.hpp"
#include "providers/shell/shell_provider.hpp"

namespace sandgate {

struct E2bSettings {
  std::string api_url = "https://api.e2b.app";
  std::string domain = "e2b.app";  // sandboxes are at <port>-<id>.<domain>
  std::string sandbox_url;  // if set, one address for all sandboxes, selected by header
  std::string default_template = "base";  // for a create without an image
  std::string region;
  Isolation isolation = Isolation::microvm;
  DescriptorLimits limits;
  Secret api_key;
  bool allow_private = false;  // set for the operator's deployments
};

// E2B, or a server with the same API. Sandboxes carry our id in metadata.sandgate_id. The template
// fixes their size, which `limits` states. Commands run under our supervisor (shell_command.hpp),
// because envd kills only the leader of a process group.
class E2bProvider : public ShellProvider {
 public:
  E2bProvider(HttpClient& http, asio::any_io_executor executor, E2bSettings settings);

  Descriptor descriptor() const override;
  Resources granted(const Resources& asked) const override;
  Task<BackendSandbox> create(CreateSpec spec) override;
  Task<std::optional<BackendSandbox>> find(std::string id) override;
  Task<std::optional<BackendSandbox>> find_by_tag(std::string sandbox_id) override;
  Task<std::vector<BackendSandbox>> list() override;
  Task<void> kill(std::string id) override;

  Task<std::unique_ptr<ProcessStream>> exec(std::string id, Command command) override;
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

  Task<Keeps> pause(std::string id, Keeps keep) override;
  Task<void> resume(std::string id) override;
  Task<BackendSnapshot> snapshot(std::string id, std::string snapshot_id, Keeps keep,
                                 bool lasting) override;
  Task<std::optional<BackendSnapshot>> find_snapshot(std::string snapshot_id) override;
  Task<void> remove_snapshot(std::string snapshot) override;

  Task<void> extend(std::string id, std::chrono::seconds ttl) override;

  // Returns a client for a sandbox's envd. Throws Error(not_found) if the sandbox does not exist.
  Task<RestApi> envd(std::string id);
  // Calls a method of envd about the process with that tag or, if `tag` is empty, that pid. With
  // `waits` the answer may take any time.
  Task<void> call_process(std::string id, std::string method, std::string tag, int64_t pid,
                          Json body, bool waits = false);
  Task<LineResult> run(std::string id, std::string line) override;

 private:
  Task<std::vector<BackendSandbox>> pages(std::string query);
  // The entries of all pages of a list. `path` has a query.
  Task<std::vector<Json>> entries_of(std::string path);
  Task<e2b::Access> access_of(std::string id);
  BackendSandbox to_sandbox(const Json& document) const;
  Task<Json> filesystem(std::string id, std::string method, Json body);
  // What a pause with its memory has kept.
  Task<Keeps> kept_memory(std::string id);
  // The vendor's call that resumes a paused sandbox.
  Task<Json> connect(std::string id, bool from_disk);
  Task<void> check_may_go(std::string id, std::string path);  // throws for the root and the home

  HttpClient& http_;
  const E2bSettings settings_;
  RestApi api_;
  SandboxDataCache<e2b::Access> accesses_;
};

}  // namespace sandgate
