#pragma once
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gateway/core/async.hpp"

namespace sandgate {

// Records in one file that must outlive this process until somebody has made them durable
// elsewhere: in order, each with a checksum. A record that was torn by a crash at the end of the
// file is cut off when it is opened; it had not been acknowledged to anybody. Bounded: a full
// journal refuses. Thread-safe; must outlive the coroutines that use it.
class DurableJournal {
 public:
  struct Options {
    std::string path;
    size_t max_bytes = 16 << 20;  // of the file, and about as much of memory
  };
  struct Record {
    uint64_t sequence = 0;  // from 1, unique within id()
    std::string payload;
  };

  // Opens or makes the file. Throws Error(unavailable) when it can't be, Error(invalid) when it is
  // no journal.
  explicit DurableJournal(Options options);
  ~DurableJournal();
  DurableJournal(const DurableJournal&) = delete;
  DurableJournal& operator=(const DurableJournal&) = delete;

  // Resumes once the record is on disk; callers at the same time share one flush. Throws
  // Error(unavailable) when the journal is full or the disk fails: then nothing was promised.
  Task<void> append(std::string payload);

  // Names this run of sequences: it changes when the journal has been emptied.
  std::string id() const;
  std::vector<Record> pending(size_t most) const;  // oldest first
  // Forgets the records up to a sequence of this id. Empties the file when none is left.
  Task<void> forget(uint64_t through);

  size_t records() const;
  size_t bytes() const;
  // Reads a journal without opening it for writing: for a look from outside.
  struct Look {
    size_t records = 0, bytes = 0;
    bool torn = false;
  };
  static std::optional<Look> look(const std::string& path);  // empty: there is none

 private:
  struct Contents;
  // An empty file with an id of its own, on disk.
  struct Fresh {
    std::string path, id;
    int file = -1;
  };

  void take_over(Fresh fresh);  // in place of the file so far; needs the lock
  // These run on the writer's thread; the disk is waited for without the lock.
  Fresh make_fresh() const;
  void keep_name() const;
  void write_waiting();
  void make_durable(uint64_t sequence);
  void forget_now(uint64_t through);
  bool is_whole();
  void cut_to(size_t size) const;

  const Options options_;
  mutable std::mutex mutex_;
  int file_ = -1;
  std::string id_;
  std::deque<Record> records_;  // on disk, or waiting at the end
  size_t size_ = 0;  // of the file, with what waits
  size_t written_ = 0;  // of it, on disk
  bool torn_ = false;  // there may be more behind that, which nobody was promised
  uint64_t next_ = 1, durable_ = 0, failed_ = 0;  // sequences; failed: up to here not promised
  std::unique_ptr<asio::thread_pool> writer_;
};

}  // namespace sandgate
