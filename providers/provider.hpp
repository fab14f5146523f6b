#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gateway/core/async.hpp"
#include "providers/descriptor.hpp"
#include "providers/file_watch.hpp"
#include "providers/port_connection.hpp"
#include "providers/sandbox.hpp"

namespace sandgate {

// A backend that runs sandboxes: one object per deployment. Failures are thrown as Error;
// "not there" is an empty optional from find, and Error(not_found) from every other verb.
// create may end in Error(timeout) or Error(unavailable) with the outcome unknown: list() and
// find_by_tag() are how the reaper learns whether the sandbox exists.
// Sandbox ids here are backend ids. All verbs may run concurrently and honour cancellation.
class Provider {
 public:
  virtual ~Provider() = default;
  // May change while running (a remote gateway's, a re-probed machine's): take a copy to keep.
  virtual Descriptor descriptor() const = 0;

  virtual Task<BackendSandbox> create(CreateSpec spec) = 0;
  // What create() of it will answer unless it fails, of backends that take our id for theirs.
  virtual std::optional<BackendSandbox> foreseen(const CreateSpec& spec) const;
  virtual Task<std::optional<BackendSandbox>> find(std::string id) = 0;
  virtual Task<std::optional<BackendSandbox>> find_by_tag(std::string sandbox_id) = 0;
  virtual Task<std::vector<BackendSandbox>> list() = 0;  // with an id of ours; gone: left to kill()
  virtual Task<void> kill(std::string id) = 0;  // idempotent

  // Optional verbs: override exactly those that descriptor().verbs declares.
  virtual Task<std::unique_ptr<ProcessStream>> exec(std::string id, Command command);
  // Reconnects to a process from an output offset; bytes older than the ring are skipped, and an
  // offset beyond the end means: only what is written from now on.
  virtual Task<std::unique_ptr<ProcessStream>> attach(std::string id, std::string process,
                                                      uint64_t from);
  virtual Task<std::vector<ProcessInfo>> processes(std::string id);
  // One of them, running or ended. Here it is looked up among all.
  virtual Task<ProcessInfo> process(std::string id, std::string process);
  virtual Task<void> signal(std::string id, std::string process, int number);
  virtual Task<void> write_stdin(std::string id, std::string process, std::string bytes);
  virtual Task<void> close_stdin(std::string id, std::string process);
  virtual Task<void> resize(std::string id, std::string process, PtySize size);

  virtual Task<FileContent> read_file(std::string id, std::string path, ByteRange range);
  virtual Task<FileEntry> write_file(std::string id, std::string path, uint32_t mode,
                                     ByteSource& bytes);
  virtual Task<FileEntry> stat(std::string id,
                               std::string path);  // does not follow a final symlink
  // Sorted by path, to the given depth (1: the directory's own entries).
  virtual Task<std::vector<FileEntry>> list_files(std::string id, std::string path, int depth);
  virtual Task<FileEntry> make_directory(std::string id, std::string path);
  virtual Task<FileEntry> move(std::string id, std::string from, std::string to);
  virtual Task<void> remove(std::string id, std::string path, bool recursive);
  virtual Task<std::unique_ptr<ByteSource>> read_archive(std::string id, std::string path);  // tar
  virtual Task<void> write_archive(std::string id, std::string path, ByteSource& tar);

  // A directory, with everything below it when `recursive`; returns once changes are noticed.
  virtual Task<std::unique_ptr<FileWatch>> watch(std::string id, std::string path, bool recursive);

  // Throws Error(unavailable) when nothing listens there, as far as that is known at once.
  virtual Task<PortConnection> dial(std::string id, uint16_t port);

  virtual Task<SandboxMetrics> metrics(std::string id);
  // Of backends that declare Descriptor::counts_ends: kill(), and what the sandbox had counted by
  // its end, which find() tells of it from then on, also after a crash of either side.
  virtual Task<SandboxMetrics> finish(std::string id);

  // `keep` is a wish; the answer says what survives. Pausing the paused and resuming the running
  // changes nothing. Error(conflict): not now.
  virtual Task<Keeps> pause(std::string id, Keeps keep);
  virtual Task<void> resume(std::string id);

  // `snapshot_id` is ours, and the backend must carry it: the same again gives the same snapshot,
  // and find_snapshot finds it after a lost answer. Not `lasting`: for a fork, soon removed.
  // Verb::fork is this and creates from it.
  virtual Task<BackendSnapshot> snapshot(std::string id, std::string snapshot_id, Keeps keep,
                                         bool lasting);
  virtual Task<std::optional<BackendSnapshot>> find_snapshot(std::string snapshot_id);
  // By its backend id; idempotent. Sandboxes restored from it live on.
  virtual Task<void> remove_snapshot(std::string snapshot);

  // Of backends that declare Control::network_rules; others throw Error(unsupported).
  virtual Task<NetworkState> network(std::string id);
  virtual Task<void> set_network(std::string id, NetworkPolicy policy);  // in force on return

  // Of backends that declare Control::secret_injection: which set of secrets (its revision) each
  // sandbox has now, "" for none, and another set for one. A restarted backend may have none.
  virtual Task<std::map<std::string, std::string>> secret_revisions();
  virtual Task<void> set_secrets(std::string id, SecretGrants secrets);

  // Changes of settings that a running sandbox must follow; a backend that cannot ignores them.
  virtual Task<void> extend(std::string id, std::chrono::seconds ttl);
};

}  // namespace sandgate
