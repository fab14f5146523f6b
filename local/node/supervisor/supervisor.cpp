#include "local/node/supervisor/supervisor.hpp"

#include <filesystem>
#include <fstream>
#include <set>

#include "local/agent/processes/spawn.hpp"

namespace sandgate {
namespace {

std::string agent_binary(const NodeSettings& settings) {
  if (!settings.agent_binary.empty()) return settings.agent_binary;
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "sandgate-agent";
}

// Whether the agent's eldest child still waits for its program, and so is none of the tenant's. The
// name alone could be anybody's.
bool has_waiting_child(const JournalRecord& record) {
  if (record.cgroups.empty()) return false;
  std::set<pid_t> children = cgroup_processes(record.cgroups.front());
  children.erase(static_cast<pid_t>(record.pid));
  if (children.empty()) return false;
  const std::string first = "/proc/" + std::to_string(record.pid);
  const std::string child = "/proc/" + std::to_string(*children.begin());
  std::ifstream comm(child + "/comm");
  std::string name;
  std::error_code unreadable;
  return comm >> name && name == agent::PreforkedChild::kName &&
         std::filesystem::equivalent(first + "/exe", child + "/exe", unreadable);
}

}  // namespace

Supervisor::Supervisor(NodeSettings settings, std::function<void(std::function<void()>)> post)
    : settings_(std::move(settings)),
      post_(std::move(post)),
      images_(images_dir(settings_)),
      disks_(disks_dir(settings_)),
      snapshots_(snapshots_dir(settings_)),
      journal_(sandboxes_dir(settings_)),
      table_(journal_),
      freezer_(table_),
      disk_floor_({settings_.data_dir, settings_.disk_floor_mib}, table_, post_),
      final_usage_(final_usage_dir(settings_)),
      cgroups_(open_cgroup_tree("sandgate-" + settings_.name, disk_speed(settings_))),
      seccomp_(compile_seccomp()),
      launcher_(agent_binary(settings_)),
      ranges_(settings_.id_base, settings_.id_ranges - 1),  // the last is the egress process's
      egress_(settings_, table_, journal_),
      capabilities_(machine_capabilities(settings_, cgroups_->support())),
      pool_(settings_.warm_sandboxes, settings_.warm_floor),
      watcher_([this](const std::string& id) { on_exit(id); },
               [this] {
                 end_expired();
                 end_unread();
                 disk_floor_.watch();
                 disks_.drop_unused();
                 final_usage_.write_owed();
               }) {
  capabilities_.no_egress = egress_.unsupported_reason();
  recover();
  run_self_test();
  PoolRefiller::Work work;
  work.make = [this](const WarmClass& warm_class) { return make_warm(warm_class); };
  work.end = [this](const std::string& warm) { end_warm(warm); };
  refiller_ = std::make_unique<PoolRefiller>(pool_, std::move(work));
  if (capabilities_.cgroups.version != 0) socket_watch_.emplace(table_, *cgroups_);
  descriptor_watch_.emplace(table_, *cgroups_);
  if (capabilities_.cgroups.cpu) cpu_debt_watch_.emplace(table_, *cgroups_);
}

Supervisor::~Supervisor() {
  cpu_debt_watch_.reset();
  descriptor_watch_.reset();
  socket_watch_.reset();
  refiller_.reset();
  for (const LivePtr& warm : table_.warm()) end_warm(warm->record.id);
  cleanup_.finish();
}

SandboxMetrics Supervisor::metrics(const std::string& id) {
  std::optional<JournalRecord> record = find(id);
  if (!record) throw Error::not_found("sandbox", id);
  CgroupUsage usage = cgroups_->usage(record->cgroups);
  SandboxMetrics metrics;
  metrics.cpu_micros = usage.cpu_micros;
  metrics.memory_used_bytes = usage.memory_bytes;
  metrics.memory_limit_bytes = record->resources.memory_mib << 20;
  metrics.disk_used_bytes = disk_used(*record);
  metrics.egress_bytes = egress_.sent_bytes(id);
  metrics.processes = usage.processes - (has_waiting_child(*record) ? 1 : 0);
  metrics.sampled_at = clock_.now();
  // What is removed meanwhile reads as 0, which would be taken for counters that began anew.
  if (!table_.lookup(id)) throw Error::not_found("sandbox", id);
  if (metrics.cpu_micros < 0) throw StepError("read processor time", EMFILE);
  return metrics;
}

// Does not lock busy: the sandbox would expire during a long copy.
void Supervisor::extend(const std::string& id, std::chrono::seconds ttl) {
  LivePtr live = table_.get(id);
  if (ttl.count() <= 0 || ttl > kLongestTtl)
    throw Error::invalid("/ttl_seconds", "must be between a second and 366 days");
  const Time expires_at = uptime_.now() + ttl;
  table_.update(*live, [&](JournalRecord& record) { record.expires_at = expires_at; });
}

bool Supervisor::image_in_use(const std::string& name) const {
  for (const JournalRecord& record : list()) {
    if (record.image == name) return true;
  }
  for (const StoredSnapshot& snapshot : snapshots_.list()) {
    if (snapshot.image == name) return true;
  }
  return false;
}

}  // namespace sandgate
