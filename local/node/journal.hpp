#pragma once
#include <string>
#include <vector>

#include "gateway/core/json_reader.hpp"
#include "gateway/core/time.hpp"
#include "providers/sandbox.hpp"

namespace sandgate {

enum class RecordState { creating, waiting, running };  // waiting: for an owner

// What a node must know of a sandbox to adopt it or to remove every trace of it. No secrets, no
// environment.
struct JournalRecord {
  std::string id;  // ours; also the backend's
  std::string tenant_id;
  std::string image, image_digest;
  RecordState state = RecordState::creating;
  bool paused = false;  // running, but to stand still
  uint32_t id_base = 0;
  int64_t pid = 0;  // of its first process; with start_time it names one process for ever
  uint64_t start_time = 0;
  std::vector<std::string> cgroups;
  Resources resources;
  NetworkPolicy network;
  bool way_out = false;  // keeps its place in the egress process when `network` allows nothing
  Time created_at, expires_at;
};

Json to_json(const JournalRecord& record);
JournalRecord sandbox_record_from(const Json& json);  // throws Json::exception or Error(invalid)

// One directory per sandbox: its journal entry (root's alone) and its agent's socket.
class Journal {
 public:
  explicit Journal(std::string directory);

  // Replaces the entry at once or not at all. Throws Error(unavailable) when it cannot be kept.
  void write(const JournalRecord& record) const;
  // Makes the directory of a seat that of its owner's sandbox, `record`, at once or not at all.
  void hand_over(const std::string& seat, const JournalRecord& record) const;
  void remove(const std::string& id) const;  // with everything in the sandbox's directory
  // Every directory there is; a missing or broken entry yields a record with its id alone.
  std::vector<JournalRecord> read_all() const;

  std::string directory_of(const std::string& id) const { return directory_ + "/" + id; }

 private:
  void write_to(const std::string& directory, const JournalRecord& record) const;

  std::string directory_;
};

}  // namespace sandgate
