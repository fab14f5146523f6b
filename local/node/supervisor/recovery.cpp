// The start of a supervisor: adopts or removes the sandboxes of an earlier one, and starts a trial
// sandbox to check that this machine can run sandboxes.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>

#include "gateway/core/log.hpp"
#include "local/agent/protocol.hpp"
#include "local/namespaces/pidfd.hpp"
#include "local/namespaces/step_error.hpp"
#include "local/node/server/listener.hpp"
#include "local/node/supervisor/first_process.hpp"
#include "local/node/supervisor/id_range_kill.hpp"
#include "local/node/supervisor/launch_failure.hpp"
#include "local/node/supervisor/supervisor.hpp"

namespace sandgate {
namespace {

constexpr const char* kTrialId = "trial";

// Finds a sandbox's first process by its agent's socket, for a node that died after starting it but
// before writing its pid to the journal.
Fd open_unnamed_process(const std::string& directory) {
  const Json ping{{"protocol", agent::kProtocolVersion}, {"operation", "ping"}};
  try {
    return open_server_of(directory, "agent.sock", agent::request_frames(ping.dump()));
  } catch (const StepError&) {
    return {};
  }
}

}  // namespace

LivePtr Supervisor::adopt(const JournalRecord& record) {
  if (record.state != RecordState::running) return nullptr;
  Fd pidfd = open_first_process(record);
  if (!pidfd) return nullptr;
  freezer_.restore(record);
  auto live = std::make_shared<LiveSandbox>();
  live->record = record;
  live->pidfd = std::move(pidfd);
  ranges_.adopt(record.id_base);
  table_.insert(live);
  watcher_.add(record.id, live->pidfd.get());
  return live;
}

// Without its control groups the counters are unknown: they are of an earlier boot, or a node died
// amid removing the traces and had noted the end before.
void Supervisor::record_missed_death(const JournalRecord& record) {
  if (record.state != RecordState::running || final_usage_.find(record.id)) return;
  const auto is_there = [](const std::string& group) {
    std::error_code unknown;
    return std::filesystem::exists(group, unknown);
  };
  if (record.cgroups.empty() || !std::ranges::all_of(record.cgroups, is_there)) return;
  try {
    const Time now = clock_.now();
    final_usage_.append(record.id, {last_usage(record, now), /*died=*/true});
  } catch (const StepError& failure) {
    log::warn("a death is not kept", {{"sandbox", record.id},
                                      {"step", failure.what()},
                                      {"error", std::strerror(failure.number)}});
  }
}

// Killing the first process ends all others of its pid namespace. The id range and control groups
// find processes whose pid was never recorded. An entry that could not be removed at its time may
// name a range that another sandbox has by now.
void Supervisor::remove_leftovers(const JournalRecord& record) {
  Fd first = open_first_process(record);
  if (record.pid == 0) first = open_unnamed_process(journal_.directory_of(record.id));
  if (first) kill_by_pidfd(first);
  if (record.id_base != 0 && !ranges_.is_taken(record.id_base)) kill_id_range(record.id_base);
  lift_cpu_limit(record.cgroups);
  remove_cgroups(record.cgroups);
  disks_.remove(record.id);
  journal_.remove(record.id);
}

// Removes traces without a journal entry, which a crash of the machine may leave.
void Supervisor::remove_orphans() {
  std::set<std::string> known;
  for (const JournalRecord& record : list())
    known.insert(record.cgroups.begin(), record.cgroups.end());
  for (const std::string& id : cgroups_->list()) {
    const auto directories = cgroups_->directories_of(id);
    const bool used = std::any_of(directories.begin(), directories.end(),
                                  [&](const auto& one) { return known.contains(one); });
    if (!used) remove_cgroups(directories);
  }
  for (const std::string& id : disks_.list()) {
    if (!table_.lookup(id)) disks_.remove(id);
  }
}

// Starts and ends one sandbox with an empty image; returns the step that failed.
std::optional<StepError> Supervisor::try_disk(DiskKind disk, const std::string& empty_image) {
  capabilities_.disk = disk;
  SandboxRequest request;
  request.id = kTrialId;
  OpenImage image;
  image.root = check_fd(open(empty_image.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC), "open image");
  LivePtr live;
  try {
    live = reserve(request, image.info, Owner::known);
  } catch (const Error& error) {
    return StepError(error.what(), ENOSPC);  // those that run have every range of ids
  }
  std::optional<StepError> failure;
  {
    std::lock_guard busy(live->busy);
    try {
      journal_.write(live->record);
      start(*live, request, image, Owner::known);
    } catch (const StepError& error) {
      failure = error;
    } catch (const Error& error) {
      if (error.code != ErrorCode::no_capacity) throw;
      failure = StepError(error.what(), ENOSPC);
    }
    stop_and_mark_gone(live);
  }
  // Not in the background: the next trial has the same id, and after the last one this object may
  // be destroyed before the background work runs.
  remove_traces(live);
  return failure;
}

// The first kind of disk that works is used. What the machine lacks only now says nothing about
// disks, and ending sandboxes, for which a node must run, gives it back.
void Supervisor::run_self_test() {
  const std::string empty = settings_.data_dir + "/empty";
  std::filesystem::create_directories(empty);
  for (DiskKind disk : {DiskKind::loop, DiskKind::memory}) {
    const auto failure = try_disk(disk, empty);
    if (!failure) return;
    const bool lacks_now = is_lack_of_resources(*failure) || disk_floor_.is_undercut();
    log::warn("trial sandbox failed",
              {{"step", failure->what()}, {"error", std::strerror(failure->number)}});
    if (lacks_now) return;
    if (disk == DiskKind::memory) throw to_error(*failure);
    capabilities_.notes.push_back(std::string("no disk images here: ") + failure->what() + ": " +
                                  std::strerror(failure->number));
  }
}

// What runs comes first: it waits for its way out, and sweeping must know which ranges it has.
void Supervisor::recover() {
  std::vector<LivePtr> adopted;
  std::vector<JournalRecord> left;
  for (JournalRecord& record : journal_.read_all()) {
    if (LivePtr live = adopt(record))
      adopted.push_back(std::move(live));
    else
      left.push_back(std::move(record));
  }
  egress_.begin_reattaching(adopted);
  for (const JournalRecord& record : left) {
    record_missed_death(record);
    remove_leftovers(record);
  }
  remove_orphans();
  if (adopted.size() + left.size() > 0)
    log::info("recovered", {{"adopted", adopted.size()}, {"swept", left.size()}});
}

}  // namespace sandgate
