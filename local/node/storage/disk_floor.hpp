#pragma once
#include <atomic>
#include <functional>

#include "local/node/storage/disk_space.hpp"
#include "local/node/supervisor/sandbox_table.hpp"

namespace sandgate {

// Keeps acknowledged data of the sandboxes of a table from being lost when the host's disk, which
// holds all their disk images, fills up. Thread-safe.
class DiskFloor {
 public:
  using Post = std::function<void(std::function<void()>)>;
  // `post` runs work on a thread where it may block and throw. `table` must outlive this object.
  DiskFloor(DiskSpace space, const SandboxTable& table, Post post)
      : space_(std::move(space)), table_(table), post_(std::move(post)) {}

  bool is_undercut() const { return space_.is_below_floor(); }
  void require_space() const;  // throws Error(no_capacity) below the floor
  // To be called every few moments. Syncs all sandboxes' disks when space becomes scarce.
  void watch();

  // Called between the pieces of a copy: throws StepError when it must stop, because of `stop`,
  // stop_copies() or a lack of space.
  void check_copy(const std::atomic<bool>& stop) const;
  void stop_copies() { stopping_ = true; }  // of disks, also those under way, before the node ends

 private:
  void flush_all() const;

  const DiskSpace space_;
  const SandboxTable& table_;
  const Post post_;
  std::atomic<bool> scarce_{false};  // space_.is_scarce() at the last watch()
  std::atomic<bool> stopping_{false};
};

}  // namespace sandgate
