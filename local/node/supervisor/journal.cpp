#include "local/node/supervisor/journal.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "gateway/core/fd.hpp"
#include "gateway/core/files.hpp"
#include "gateway/core/words.hpp"
#include "local/egress/network_json.hpp"
#include "local/namespaces/step_error.hpp"
#include "local/node/settings.hpp"
#include "local/node/supervisor/launch_failure.hpp"

namespace sandgate {
namespace {

constexpr const char* kEntry = "/sandbox.json";

constexpr Words kStateWords({Word{RecordState::creating, "creating"},
                             Word{RecordState::waiting, "waiting"},
                             Word{RecordState::running, "running"}});

[[noreturn]] void fail() {
  const bool full = errno == ENOSPC || errno == EDQUOT;
  throw Error(full ? ErrorCode::no_capacity : ErrorCode::unavailable,
              std::string("the node cannot keep its journal: ") + std::strerror(errno));
}

// Entries of earlier releases have the time of the system clock.
Time expiry_of(const Json& json) {
  if (json.contains("expires_at_uptime"))
    return from_micros(json["expires_at_uptime"].get<int64_t>());
  const Time expires_at = from_micros(json.at("expires_at").get<int64_t>());
  return UptimeClock().now() + (expires_at - SystemClock().now());
}

JournalRecord read_entry(const std::filesystem::path& directory) {
  JournalRecord record;
  record.id = directory.filename().string();
  const auto text = read_text_file(directory.string() + kEntry);
  const StepError unread("read journal entry", errno);
  if (!text && is_lack_of_resources(unread)) throw unread;
  try {
    JournalRecord read = sandbox_record_from(parse_json(text.value_or("")));
    if (read.id == record.id) return read;
    // An assign() that did not finish: the owner was never told, so it is still a warm sandbox.
    read.id = record.id;
    read.state = RecordState::waiting;
    return read;
  } catch (const std::exception&) {
    // incomplete: the sandbox can only be removed
  }
  return record;
}

}  // namespace

Json to_json(const JournalRecord& record) {
  Json json{{"version", 1},
            {"id", record.id},
            {"tenant", record.tenant_id},
            {"image", record.image},
            {"image_digest", record.image_digest},
            {"state", kStateWords.of(record.state)},
            {"paused", record.paused},
            {"paused_at_uptime", to_micros(record.paused_at)},
            {"id_base", record.id_base},
            {"pid", record.pid},
            {"start_time", record.start_time},
            {"cgroups", record.cgroups},
            {"milli_vcpu", record.resources.milli_vcpu},
            {"memory_mib", record.resources.memory_mib},
            {"disk_gib", record.resources.disk_gib},
            {"processes", record.resources.processes},
            {"network", egress::network_json(record.network)},
            {"way_out", record.has_egress},
            {"created_at", to_micros(record.created_at)},
            {"expires_at_uptime", to_micros(record.expires_at)}};
  if (record.image_config) json["image_config"] = to_json(*record.image_config);
  return json;
}

JournalRecord sandbox_record_from(const Json& json) {
  JournalRecord record;
  json.at("id").get_to(record.id);
  json.at("tenant").get_to(record.tenant_id);
  json.at("image").get_to(record.image);
  json.at("image_digest").get_to(record.image_digest);
  if (json.contains("image_config")) record.image_config = image_config_from(json["image_config"]);
  record.state =
      kStateWords.find(json.at("state").get<std::string>()).value_or(RecordState::creating);
  record.paused = json.value("paused", false);
  record.paused_at = from_micros(json.value("paused_at_uptime", int64_t{0}));
  json.at("id_base").get_to(record.id_base);
  json.at("pid").get_to(record.pid);
  json.at("start_time").get_to(record.start_time);
  json.at("cgroups").get_to(record.cgroups);
  json.at("milli_vcpu").get_to(record.resources.milli_vcpu);
  json.at("memory_mib").get_to(record.resources.memory_mib);
  json.at("disk_gib").get_to(record.resources.disk_gib);
  json.at("processes").get_to(record.resources.processes);
  record.network = egress::network_from(json.at("network"));
  record.has_egress = json.value("way_out", false);
  record.created_at = from_micros(json.at("created_at").get<int64_t>());
  record.expires_at = expiry_of(json);
  return record;
}

Journal::Journal(std::string directory) : directory_(std::move(directory)) {
  std::filesystem::create_directories(directory_);
  chmod(directory_.c_str(), 0711);  // serve connects to the agents' sockets below
}

void Journal::write(const JournalRecord& record) const {
  write_to(directory_of(record.id), record);
}

// After a crash between the two steps the entry does not match its directory, see read_entry().
void Journal::assign(const std::string& warm, const JournalRecord& record) const {
  write_to(directory_of(warm), record);
  if (rename(directory_of(warm).c_str(), directory_of(record.id).c_str()) != 0) fail();
}

void Journal::write_to(const std::string& directory, const JournalRecord& record) const {
  if (mkdir(directory.c_str(), 0711) != 0 && errno != EEXIST) fail();
  chmod(directory.c_str(), 0711);
  if (!replace_file(directory + kEntry, to_json(record).dump(), 0600, Durability::until_reboot))
    fail();
}

// By their names, since to list them takes a descriptor, and there may be none left.
void Journal::remove(const std::string& id) const {
  const std::string directory = directory_of(id);
  for (const char* name : {"/agent.sock", "/egress_bytes", "/sandbox.json.draft", kEntry})
    unlink((directory + name).c_str());
  if (rmdir(directory.c_str()) == 0 || errno == ENOENT) return;
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);
}

std::vector<JournalRecord> Journal::read_all() const {
  std::vector<JournalRecord> records;
  for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
    if (is_safe_name(entry.path().filename().string())) records.push_back(read_entry(entry.path()));
  }
  return records;
}

}  // namespace sandgate
