#pragma once
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "gateway/core/async.hpp"
#include "gateway/core/fd.hpp"
#include "gateway/core/journal_file.hpp"

namespace sandgate {

// A bounded append-only file of checksummed records that survive this process until they have been
// stored elsewhere. Opening the file cuts off a record torn by a crash at its end; such a record
// was never acknowledged. Records that are damaged otherwise are left out, logged, and kept in a
// copy of the file, `path`.damaged. A full journal refuses new records. Thread-safe; must outlive
// the coroutines that use it.
class DurableJournal {
 public:
  struct Options {
    std::string path;
    size_t max_bytes = 16 << 20;  // of the file; memory use is about the same
  };
  using Record = journal_file::Record;

  // Opens or creates the file. Throws Error(unavailable) if that fails and Error(invalid) if the
  // file is not a journal.
  explicit DurableJournal(Options options);
  ~DurableJournal();
  DurableJournal(const DurableJournal&) = delete;
  DurableJournal& operator=(const DurableJournal&) = delete;

  // Resumes once the record is on disk; concurrent callers share one flush. Throws Error(too_large)
  // for more than 64 KiB, and Error(unavailable), without storing anything, if the journal is full
  // or the disk fails.
  Task<void> append(std::string payload);

  // Identifies the current sequence numbering; changes whenever the journal is emptied.
  std::string id() const;
  std::vector<Record> pending(size_t most) const;  // durable records, oldest first
  // Removes the records up to a sequence of the current id. Recreates the file, with a new id, when
  // none is left. Throws Error(unavailable) if that fails.
  Task<void> trim(uint64_t through);

  size_t records() const;
  size_t bytes() const;
  size_t damaged() const { return damaged_; }  // stretches found by the constructor
  // Reads a journal without opening it for writing, for inspection by another process.
  struct Inspection {
    size_t records = 0, bytes = 0;
    bool torn = false;
    size_t damaged = 0;  // stretches that cannot be read
  };
  static std::optional<Inspection> inspect(const std::string& path);  // empty: no such file

 private:
  // A new empty file with its own id, already on disk.
  struct NewFile {
    std::string path, id;
    Fd file;
  };

  void switch_to(NewFile created);  // replaces the current file; needs the lock
  // These functions run on the writer thread and wait for the disk without holding the lock.
  NewFile create_file() const;
  void write_waiting();
  bool is_durable(uint64_t sequence);  // throws when its append failed
  void make_durable(uint64_t sequence);
  void trim_now(uint64_t through);
  bool append_to_file(const std::string& bytes);
  bool cut_torn_bytes();
  void cut_to(size_t size) const;
  void back_up_damaged(const journal_file::Contents& found) const;

  const Options options_;
  size_t damaged_ = 0;
  mutable std::mutex mutex_;
  Fd file_;
  std::string id_;
  std::deque<Record> records_;  // on disk, or queued for writing at the end
  size_t size_ = 0;  // of the file plus queued records
  size_t written_ = 0;  // bytes of the file on disk
  bool torn_ = false;  // the file may have unacknowledged bytes beyond written_
  uint64_t next_ = 1, durable_ = 0;  // sequences
  // Appends whose records were not stored and that have not learned of it.
  std::set<uint64_t> failed_;
  int failure_ = 0;  // errno of the last failed write
  std::unique_ptr<asio::thread_pool> writer_;
};

}  // namespace sandgate
