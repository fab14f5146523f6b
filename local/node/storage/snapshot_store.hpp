#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gateway/core/fd.hpp"
#include "gateway/core/json_reader.hpp"
#include "gateway/core/time.hpp"
#include "local/image/config.hpp"

namespace sandgate {

// A snapshot of a sandbox's disk, and the image that the disk belongs to.
struct StoredSnapshot {
  std::string id, sandbox_id, tenant_id;
  std::string image, image_digest;
  std::optional<ImageConfig> image_config;  // empty: the snapshot is of an older version
  int64_t disk_gib = 0;
  int64_t size_bytes = 0;  // allocated on the host's disk, including blocks shared by reflink
  Time created_at;
};

Json to_json(const StoredSnapshot& snapshot);
StoredSnapshot stored_snapshot_from(const Json& json);  // throws Json::exception

struct OpenSnapshot {
  StoredSnapshot snapshot;
  Fd image;  // for reading; stays valid when the snapshot is removed meanwhile
};

// Returns the complete snapshots in a directory, which need not exist. Throws StepError or
// filesystem_error when one of them, or the directory, cannot be read now.
std::vector<StoredSnapshot> snapshots_in(const std::string& directory);

// The store of snapshots in a directory accessible to root only: an image and a document each. A
// snapshot exists once its document does; what lacks the other half, or is damaged, is removed by
// the constructor. Removing a snapshot does not affect disks made from it. Everything that reads
// throws StepError when a document or image is there and cannot be opened now. Thread-safe; callers
// validate ids.
class SnapshotStore {
 public:
  explicit SnapshotStore(std::string directory);

  // Copies a disk that nothing writes to, and calls `copied` once it may be written again. With
  // `lasting` the snapshot is synced to disk when this returns. Throws StepError, Error(conflict)
  // when it is removed meanwhile, and what `between` throws (see copy_disk), without leaving
  // anything behind.
  StoredSnapshot add(StoredSnapshot snapshot, int disk, bool lasting,
                     const std::function<void()>& between, const std::function<void()>& copied);
  std::optional<StoredSnapshot> find(const std::string& id) const;
  bool has_begun(const std::string& id) const;  // it exists or is being made
  OpenSnapshot open(const std::string& id) const;  // throws Error(not_found)
  // Unknown ids are ignored. Throws StepError while any of it is left, as on a read-only disk.
  void remove(const std::string& id);
  std::vector<StoredSnapshot> list() const;

 private:
  std::string image_path(const std::string& id) const;
  std::string document_path(const std::string& id) const;
  void discard(const std::string& id) noexcept;

  std::string directory_;
};

}  // namespace sandgate
