#include "local/node/storage/disk_floor.hpp"

#include <unistd.h>

#include <cstring>

#include "gateway/core/log.hpp"
#include "local/namespaces/step_error.hpp"
#include "local/node/storage/disk_flush.hpp"

namespace sandgate {

void DiskFloor::require_space() const {
  const auto seen = space_.status();
  if (!seen || seen->free_bytes >= seen->floor_bytes) return;
  throw Error(ErrorCode::no_capacity,
              "the disk of this machine is full: " + std::to_string(seen->free_bytes >> 20) +
                  " MiB are free, and " + std::to_string(seen->floor_bytes >> 20) + " stay so");
}

void DiskFloor::check_copy(const std::atomic<bool>& stop) const {
  if (stop || stopping_) throw StepError("copy disk", ECANCELED);
  if (space_.is_below_floor()) throw StepError("copy disk", ENOSPC);
}

// While space is scarce, uploads are synced before they are acknowledged. When it becomes scarce,
// the data acknowledged before is flushed while there still is space.
void DiskFloor::watch() {
  const bool scarce = space_.is_scarce();
  if (scarce && !scarce_.exchange(true)) {
    log::warn("the disk of sandboxes is filling up");
    post_([this] { flush_all(); });
  }
  if (!scarce) scarce_ = false;
}

void DiskFloor::flush_all() const {
  for (const JournalRecord& record : table_.list()) {
    const Fd root = open_root(record);
    if (root && syncfs(root.get()) != 0)
      log::warn("a sandbox's disk is not flushed",
                {{"sandbox", record.id}, {"error", std::strerror(errno)}});
  }
}

}  // namespace sandgate
