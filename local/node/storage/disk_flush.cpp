#include "local/node/storage/disk_flush.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "local/namespaces/step_error.hpp"

namespace sandgate {

Fd open_root(const JournalRecord& record) {
  const std::string root = "/proc/" + std::to_string(record.pid) + "/root";
  return Fd(open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// Syncs the disk's own file system, which reports write errors; the overlay over it does not.
void flush_disk(const LiveSandbox& live) {
  const Fd root = live.disk ? Fd(openat(live.disk.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC))
                            : open_root(live.record);
  if (!root) throw StepError("open root", errno);
  check(syncfs(root.get()), "flush disk");
}

}  // namespace sandgate
