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

// A backend that runs sandboxes; one object per deployment. `id` parameters are backend ids.
// Failures are thrown as Error; a missing sandbox is an empty optional from find and
// Error(not_found) from the other functions. After Error(timeout) or Error(unavailable) from
// create() the sandbox may exist; the reaper uses list() and find_by_tag() to learn whether it
// does. All functions may run concurrently and honour cancellation.
class Provider {
 public:
  virtual ~Provider() = default;
  // A snapshot of the capabilities, which can change at run time (remote gateway, re-probed
  // machine).
  virtual Descriptor descriptor() const = 0;
  // What a sandbox gets, and its vendor bills, when `asked` is: vendors round sizes up. At least
  // `asked`; this implementation returns it.
  virtual Resources granted(const Resources& asked) const;

  virtual Task<BackendSandbox> create(CreateSpec spec) = 0;
  // For backends that use Sandgate's id as their own: the result create(spec) has if it succeeds.
  // Empty for other backends.
  virtual std::optional<BackendSandbox> predict_create(const CreateSpec& spec) const;
  virtual Task<std::optional<BackendSandbox>> find(std::string id) = 0;
  virtual Task<std::optional<BackendSandbox>> find_by_tag(std::string sandbox_id) = 0;
  // All sandboxes that carry a Sandgate id. A `gone` one has ended by itself; kill() removes what
  // is left of it.
  virtual Task<std::vector<BackendSandbox>> list() = 0;
  virtual Task<void> kill(std::string id) = 0;  // idempotent

  // Optional functions: a backend overrides exactly those that descriptor().verbs declares. The
  // others throw Error(unsupported).
  virtual Task<std::unique_ptr<ProcessStream>> exec(std::string id, Command command);
  // Reconnects to a process at an output offset. Bytes that the ring buffer no longer holds are
  // skipped; an offset beyond the end yields only output written from then on.
  virtual Task<std::unique_ptr<ProcessStream>> attach(std::string id, std::string process,
                                                      uint64_t from);
  virtual Task<std::vector<ProcessInfo>> processes(std::string id);
  // Returns one running or ended process. This implementation searches processes().
  virtual Task<ProcessInfo> process(std::string id, std::string process);
  virtual Task<void> signal(std::string id, std::string process, int number);
  virtual Task<void> write_stdin(std::string id, std::string process, std::string bytes);
  virtual Task<void> close_stdin(std::string id, std::string process);
  virtual Task<void> resize(std::string id, std::string process, PtySize size);

  virtual Task<FileContent> read_file(std::string id, std::string path, ByteRange range);
  virtual Task<FileEntry> write_file(std::string id, std::string path, uint32_t mode,
                                     ByteSource& bytes);
  // Does not follow a symlink at the end of the path.
  virtual Task<FileEntry> stat(std::string id, std::string path);
  // Entries down to `depth` levels, sorted by path; depth 1 is the directory's own entries.
  virtual Task<std::vector<FileEntry>> list_files(std::string id, std::string path, int depth);
  virtual Task<FileEntry> make_directory(std::string id, std::string path);
  virtual Task<FileEntry> move(std::string id, std::string from, std::string to);
  virtual Task<void> remove(std::string id, std::string path, bool recursive);
  // The archive is a tar.
  virtual Task<std::unique_ptr<ByteSource>> read_archive(std::string id, std::string path);
  virtual Task<void> write_archive(std::string id, std::string path, ByteSource& tar);

  // Watches a directory, or the tree below it if `recursive`. Returns once changes are recorded.
  virtual Task<std::unique_ptr<FileWatch>> watch(std::string id, std::string path, bool recursive);

  // Connects to a port inside. Throws Error(unavailable) if it is known at once that nothing
  // listens.
  virtual Task<PortConnection> dial(std::string id, uint16_t port);

  virtual Task<SandboxMetrics> metrics(std::string id);
  // For backends that declare Descriptor::reports_final_usage: kills the sandbox and returns its
  // final metrics. Afterwards find() returns them in BackendSandbox::counted, also after a crash of
  // either side.
  virtual Task<SandboxMetrics> finish(std::string id);
  // For the same backends: Sandgate's ids of sandboxes that died by themselves within kDeathsKept.
  static constexpr std::chrono::seconds kDeathsKept{600};
  virtual Task<std::vector<std::string>> deaths();

  // Returns what the pause preserves, which may be less than `keep`. pause() of a paused sandbox
  // and resume() of a running one do nothing. Both throw Error(conflict) if not possible at the
  // moment.
  virtual Task<Keeps> pause(std::string id, Keeps keep);
  virtual Task<void> resume(std::string id);

  // `snapshot_id` is Sandgate's and stored by the backend: a repeated call returns the same
  // snapshot, and find_snapshot() finds it after a lost answer. `lasting` is false for the
  // short-lived snapshot of a fork (Verb::fork is a snapshot and a create from it).
  virtual Task<BackendSnapshot> snapshot(std::string id, std::string snapshot_id, Keeps keep,
                                         bool lasting);
  // Throws Error(conflict) while the snapshot is being made, where the backend can tell.
  virtual Task<std::optional<BackendSnapshot>> find_snapshot(std::string snapshot_id);
  // Takes the backend's id; idempotent. Sandboxes restored from the snapshot are not affected.
  virtual Task<void> remove_snapshot(std::string snapshot);

  // For backends that declare Control::network_rules; others throw Error(unsupported).
  virtual Task<NetworkState> network(std::string id);
  virtual Task<void> set_network(std::string id, NetworkPolicy policy);  // in force on return

  // For backends that declare Control::secret_injection: the revision of the secrets that each
  // sandbox has ("" for none), and a function to replace them. A restart of the backend may lose
  // them.
  virtual Task<std::map<std::string, std::string>> secret_revisions();
  virtual Task<void> set_secrets(std::string id, SecretGrants secrets);

  // Sets the remaining time to live of a running sandbox. Throws beyond_end() (fixed_end.hpp) if
  // the backend ends it earlier. This implementation does nothing: it is for backends with a
  // Descriptor::fixed_lifetime and for those that end no sandbox by themselves.
  virtual Task<void> extend(std::string id, std::chrono::seconds ttl);

 protected:
  // Kills a sandbox whose create was accepted and cannot be completed. Returns what create() has to
  // throw: `why`, or of_unknown_outcome() of the kill's failure if that failed, because the sandbox
  // then still exists.
  Task<Error> abort_create(std::string id, Error why);
};

}  // namespace sandgate
