#pragma once
#include <string>

#include "local/namespaces/fd.hpp"
#include "local/node/journal.hpp"

namespace sandgate::test {

// A file system that stands still for as long as this lives: whoever writes there waits, and cannot
// be killed meanwhile.
class FrozenDisk {
 public:
  explicit FrozenDisk(Fd directory);  // any of it
  ~FrozenDisk() { end(); }
  FrozenDisk(FrozenDisk&&) = default;
  void end();

 private:
  Fd directory_;
};

// A directory of the file system of a sandbox's disk, which only its node has a way to. Throws when
// that has none.
Fd disk_of(pid_t node, const std::string& id);

// Whether a process of the sandbox waits for a disk.
bool has_waiting_process(const JournalRecord& record);

// An empty file system of its own at a directory, for as long as this lives.
class SmallDisk {
 public:
  SmallDisk(std::string directory, int mib);
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;

  FrozenDisk freeze() const;
  // Takes all but so much of what is free.
  void fill(int left_mib) const;
  void give_back() const;

 private:
  const std::string directory_, image_;
};

}  // namespace sandgate::test
