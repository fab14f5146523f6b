#pragma once
#include <optional>
#include <string>
#include <vector>

#include "gateway/core/json_reader.hpp"
#include "gateway/core/time.hpp"
#include "local/image/config.hpp"
#include "providers/sandbox.hpp"

namespace sandgate {

enum class RecordState { creating, waiting, running };  // waiting: for an owner

// The journal's entry of a sandbox: everything a node needs to adopt it or to remove all its
// traces. Contains no secrets, and no environment but the image's.
struct JournalRecord {
  std::string id;  // the gateway's id, also used by the backend
  std::string tenant_id;
  std::string image, image_digest;
  std::optional<ImageConfig> image_config;  // empty: the entry is of an older version
  RecordState state = RecordState::creating;
  bool paused = false;  // its processes are to be frozen
  Time paused_at;  // of the UptimeClock; if paused
  uint32_t id_base = 0;
  int64_t pid = 0;  // of its first process; unique together with start_time
  uint64_t start_time = 0;
  std::vector<std::string> cgroups;
  Resources resources;
  NetworkPolicy network;
  bool has_egress = false;  // stays attached to the egress process even if `network` allows nothing
  Time created_at;
  Time expires_at;  // of the UptimeClock
};

Json to_json(const JournalRecord& record);
JournalRecord sandbox_record_from(const Json& json);  // throws Json::exception or Error(invalid)

// The node's journal: a directory per sandbox with its entry (readable by root only) and its
// agent's socket.
class Journal {
 public:
  explicit Journal(std::string directory);

  // Replaces the entry atomically. Throws Error when writing fails: no_capacity when the disk is
  // full, else unavailable.
  void write(const JournalRecord& record) const;
  // Renames the directory of a warm sandbox to that of its owner's sandbox, `record`. A crash in
  // between leaves an entry that read_all() returns as the warm sandbox's. Throws as write() does.
  void assign(const std::string& warm, const JournalRecord& record) const;
  void remove(const std::string& id) const;  // removes the sandbox's directory with its content
  // Returns the entries of all directories. A missing or broken entry yields a record with only its
  // id set. Throws StepError when one cannot be opened for lack of descriptors or memory: its
  // sandbox may run.
  std::vector<JournalRecord> read_all() const;

  std::string directory_of(const std::string& id) const { return directory_ + "/" + id; }

 private:
  void write_to(const std::string& directory, const JournalRecord& record) const;

  std::string directory_;
};

}  // namespace sandgate
