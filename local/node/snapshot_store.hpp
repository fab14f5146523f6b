#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gateway/core/json_reader.hpp"
#include "gateway/core/time.hpp"
#include "local/namespaces/fd.hpp"

namespace sandgate {

// The writable layer of a sandbox as it was at one moment, and what it must lie over.
struct StoredSnapshot {
  std::string id, sandbox_id, tenant_id;
  std::string image, image_digest;
  int64_t disk_gib = 0;
  int64_t size_bytes = 0;  // on this machine's disk; blocks shared with others count too
  Time created_at;
};

Json to_json(const StoredSnapshot& snapshot);
StoredSnapshot stored_snapshot_from(const Json& json);  // throws Json::exception

struct OpenSnapshot {
  StoredSnapshot snapshot;
  Fd image;  // for reading; stays whole when the snapshot is removed meanwhile
};

// Those whole in a directory, which need not be there.
std::vector<StoredSnapshot> snapshots_in(const std::string& directory);

// Snapshots below one directory, root's alone: an image and a document each. A snapshot exists
// from the moment its document does; images without one are leavings, removed at the next start.
// What was restored from a snapshot shares nothing with it that its removal could take away.
// Thread-safe; ids are checked by the caller.
class SnapshotStore {
 public:
  explicit SnapshotStore(std::string directory);

  // Copies a disk that nothing writes to. With `lasting` it survives a power cut once this
  // returned. Throws StepError, and what `between` throws (see copy_disk); nothing is left then.
  // `copied` is called when the disk may be written again.
  StoredSnapshot add(StoredSnapshot snapshot, int disk, bool lasting,
                     const std::function<void()>& between, const std::function<void()>& copied);
  std::optional<StoredSnapshot> find(const std::string& id) const;
  OpenSnapshot open(const std::string& id) const;  // throws Error(not_found)
  void remove(const std::string& id);  // absent: nothing happens
  std::vector<StoredSnapshot> list() const;

 private:
  std::string image_path(const std::string& id) const;
  std::string document_path(const std::string& id) const;

  std::string directory_;
};

}  // namespace sandgate
