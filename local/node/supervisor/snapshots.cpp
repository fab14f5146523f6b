#include <sys/statvfs.h>

#include <cstring>

#include "gateway/core/log.hpp"
#include "local/namespaces/disk_copy.hpp"
#include "local/namespaces/disk_mount.hpp"
#include "local/namespaces/step_error.hpp"
#include "local/node/storage/disk_flush.hpp"
#include "local/node/supervisor/launch_failure.hpp"
#include "local/node/supervisor/supervisor.hpp"
#include "local/node/supervisor/thaw_guard.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::seconds kCopyTimeout{3};

Error snapshot_error(const std::string& id, const StepError& failure) {
  log::warn("no snapshot",
            {{"sandbox", id}, {"step", failure.what()}, {"error", std::strerror(failure.number)}});
  if (failure.number == ECANCELED) return Error::not_found("sandbox", id);
  if (failure.number == EEXIST) return Error(ErrorCode::conflict, "this snapshot is being made");
  // EIO: writeback to the disk image failed for lack of space.
  return Error(failure.number == EIO ? ErrorCode::no_capacity : failure_code(failure),
               std::string("the snapshot could not be made: ") + std::strerror(failure.number));
}

}  // namespace

void Supervisor::require_space() const {
  if (capabilities_.disk == DiskKind::loop) disk_floor_.require_space();
}

StoredSnapshot Supervisor::snapshot(const std::string& id, const std::string& snapshot_id,
                                    bool lasting) {
  if (!is_safe_name(snapshot_id)) throw Error::invalid("/snapshot", "is not a snapshot's id");
  if (!capabilities_.can_snapshot())
    throw Error(ErrorCode::unsupported, "disks of this machine cannot be copied");
  LivePtr live = table_.get(id);
  // The threads for copies are few: a second snapshot of one sandbox must not block one for long.
  const std::unique_lock busy(live->busy, kCopyTimeout);
  if (!busy) throw Error(ErrorCode::conflict, "the sandbox's disk is being copied, or it ends");
  const Copying copying(*live, true);
  table_.check_alive(*live);
  if (live->freezing_until) throw Error(ErrorCode::conflict, "the sandbox is being paused");
  if (auto made = snapshots_.find(snapshot_id)) {
    if (made->sandbox_id == id) return *made;  // a retry after a lost answer
    throw Error(ErrorCode::conflict, "a snapshot of this id exists");
  }
  require_space();
  const JournalRecord& record = live->record;
  StoredSnapshot wanted{.id = snapshot_id,
                        .sandbox_id = id,
                        .tenant_id = record.tenant_id,
                        .image = record.image,
                        .image_digest = record.image_digest,
                        .image_config = record.image_config,
                        .disk_gib = record.resources.disk_gib,
                        .created_at = clock_.now()};
  try {
    Fd disk = disks_.open_image(id);
    flush_disk(*live);  // flush most data while the sandbox runs, to keep the standstill short
    ThawGuard frozen(*live);
    freezer_.wait_until_frozen(*live, [&] { disk_floor_.check_copy(live->ending); });
    flush_disk(*live);
    return snapshots_.add(
        std::move(wanted), disk.get(), lasting, [&] { disk_floor_.check_copy(live->ending); },
        [&] { frozen.end(); });
  } catch (const StepError& failure) {
    throw snapshot_error(id, failure);
  }
}

// A snapshot's disk is an overlay of the image tree it was written over, by the image's account of
// that time, so these are taken even if the image's name stands for others by now.
OpenImage Supervisor::open_image(const SandboxRequest& request) const {
  if (request.snapshot.empty()) return images_.open(request.image);
  if (!is_safe_name(request.snapshot)) throw Error::not_found("snapshot", request.snapshot);
  const auto snapshot = snapshots_.find(request.snapshot);
  if (!snapshot || snapshot->tenant_id != request.tenant_id)
    throw Error::not_found("snapshot", request.snapshot);
  if (snapshot->image != request.image)
    throw Error(ErrorCode::conflict, "the snapshot was taken over another image");
  if (snapshot->disk_gib != request.resources.disk_gib)
    throw Error::invalid("/resources/disk_gib",
                         "must be the snapshot's: " + std::to_string(snapshot->disk_gib));
  OpenImage image = images_.open_version(request.image, snapshot->image_digest);
  if (snapshot->image_config) image.info.config = *snapshot->image_config;
  return image;
}

int64_t Supervisor::disk_used(const JournalRecord& record) const {
  const Fd root = open_root(record);
  struct statvfs status {};
  if (!root || fstatvfs(root.get(), &status) != 0) return disks_.used_bytes(record.id);
  return static_cast<int64_t>((status.f_blocks - status.f_bfree) * status.f_frsize);
}

Fd Supervisor::make_disk(const SandboxRequest& request, uint64_t bytes,
                         const std::atomic<bool>& stop) {
  const Fd image = disks_.create(request.id);
  const LoopDevice loop = attach_loop(image.get());
  if (request.snapshot.empty()) {
    disks_.format(image.get(), bytes);
  } else {
    const OpenSnapshot original = snapshots_.open(request.snapshot);
    copy_disk(original.image.get(), image.get(), static_cast<off_t>(bytes),
              [&] { disk_floor_.check_copy(stop); });
  }
  update_size(loop);
  Fd disk = mount_disk(loop);
  if (request.snapshot.empty()) read_ahead(loop, image.get());
  return disk;
}

}  // namespace sandgate
