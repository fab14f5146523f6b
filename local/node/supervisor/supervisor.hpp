#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "local/image/store.hpp"
#include "local/namespaces/cgroup.hpp"
#include "local/namespaces/disk.hpp"
#include "local/namespaces/launcher.hpp"
#include "local/namespaces/seccomp_policy.hpp"
#include "local/namespaces/step_error.hpp"
#include "local/node/egress/egress_attachment.hpp"
#include "local/node/machine/id_ranges.hpp"
#include "local/node/machine/machine_capabilities.hpp"
#include "local/node/server/sandbox_request.hpp"
#include "local/node/settings.hpp"
#include "local/node/storage/disk_floor.hpp"
#include "local/node/storage/snapshot_store.hpp"
#include "local/node/supervisor/deferred_cleanup.hpp"
#include "local/node/supervisor/final_usage_log.hpp"
#include "local/node/supervisor/journal.hpp"
#include "local/node/supervisor/pool_refiller.hpp"
#include "local/node/supervisor/sandbox_freezer.hpp"
#include "local/node/supervisor/sandbox_table.hpp"
#include "local/node/supervisor/warm_pool.hpp"
#include "local/node/watch/cpu_debt_watch.hpp"
#include "local/node/watch/descriptor_watch.hpp"
#include "local/node/watch/socket_watch.hpp"
#include "local/node/watch/watcher.hpp"

namespace sandgate {

// Creates, watches and ends the sandboxes of one machine. All calls are thread-safe and may block
// on the kernel. Each action is in the journal before it is executed, so that a supervisor started
// after a crash can adopt running sandboxes and remove the others. Sandboxes that wait for an owner
// (warm sandboxes) do not appear in find() and list(). The members are implemented in one file per
// topic, named at their declarations.
class Supervisor {
 public:
  // Adopts or removes the sandboxes that an earlier supervisor with the same settings left. `post`
  // runs work on a thread where it may block and throw. Throws Error or StepError when this machine
  // cannot run sandboxes.
  Supervisor(NodeSettings settings, std::function<void(std::function<void()>)> post);
  ~Supervisor();  // ends the warm sandboxes and removes all traces; owned sandboxes keep running

  // Throws Error: invalid, conflict (the id is in use), not_found (image or snapshot), forbidden
  // (workspace), no_capacity, unsupported, unavailable, internal.
  JournalRecord create(const SandboxRequest& request);
  static constexpr std::chrono::milliseconds kEndTimeout{10'000};
  // Kills the sandbox and returns when all its processes are gone; its other traces are removed in
  // the background. Unknown ids are ignored. Throws Error(timeout) when it has not ended within
  // `timeout`; calls after the first do not wait at all. It then ends by itself later, but call
  // again all the same: a copy of its disk may have kept it from being killed.
  void kill(const std::string& id, std::chrono::milliseconds timeout = kEndTimeout);
  // As kill(), and returns the usage (processor time and bytes sent) at the sandbox's end. Later
  // calls and final_usage_of() return the same usage, also after a crash, as they do for a sandbox
  // that died by itself (see FinalUsageLog). Empty: unknown. Throws StepError when its counters
  // cannot be read now: call again.
  std::optional<SandboxMetrics> finish(const std::string& id,
                                       std::chrono::milliseconds timeout = kEndTimeout);
  std::optional<FinalUsageLog::Entry> final_usage_of(const std::string& id) const {
    return final_usage_.find(id);
  }
  std::vector<std::string> died_since(Time moment) const { return final_usage_.died_since(moment); }
  std::optional<JournalRecord> find(const std::string& id) const { return table_.find(id); }
  std::vector<JournalRecord> list() const { return table_.list(); }
  SandboxMetrics metrics(const std::string& id);  // throws Error(not_found)
  // The sandbox's time ends `ttl` after this call. Throws Error: not_found, invalid (not positive,
  // or above kLongestTtl).
  void extend(const std::string& id, std::chrono::seconds ttl);
  EgressAttachment& egress() { return egress_; }
  SandboxFreezer& freezer() { return freezer_; }

  // Copies the sandbox's disk while its processes are frozen. Idempotent: a repeated snapshot id
  // returns the existing snapshot. `lasting` as in SnapshotStore::add(). Throws Error: invalid,
  // not_found, conflict, unsupported, no_capacity, internal.
  StoredSnapshot snapshot(const std::string& id, const std::string& snapshot_id, bool lasting);
  SnapshotStore& snapshots() { return snapshots_; }
  void stop_copies() { disk_floor_.stop_copies(); }

  ImageStore& images() { return images_; }
  bool image_in_use(const std::string& name) const;
  void drop_warm(const std::string& image);  // ends an image's warm sandboxes, before it is removed
  const Capabilities& capabilities() const { return capabilities_; }

 private:
  // Creating (launching.cpp): reserves name and ids, writes the journal, launches, opens egress.
  enum class Owner { known, awaited };  // awaited: it becomes a warm sandbox
  void check_request(const SandboxRequest& request) const;
  JournalRecord launch(const SandboxRequest& request, const OpenImage& image, Owner owner);
  LivePtr reserve(const SandboxRequest& request, const ImageInfo& image, Owner owner);
  void start(LiveSandbox& live, const SandboxRequest& request, const OpenImage& image, Owner owner);
  void note_started(LiveSandbox& live, Launcher::Launched launched, Owner owner);
  // Returns the record with the request's id, tenant, policy and ttl; the ttl starts at this call.
  JournalRecord assigned_record(const SandboxRequest& request, JournalRecord record) const;

  // The warm pool (warm_sandboxes.cpp).
  LivePtr take_warm(const SandboxRequest& request, const ImageInfo& image);  // null: none waits
  // Turns the warm sandbox into the requested one. When its agent fails, ends it and returns empty.
  std::optional<JournalRecord> assign(const LivePtr& warm, const SandboxRequest& request,
                                      const ImageInfo& image);
  void rename(const LivePtr& warm, const SandboxRequest& request);
  std::string make_warm(const WarmClass& warm_class);
  void end_warm(const std::string& warm);

  // Ending (ending.cpp). These are called with live.busy held, may be repeated and throw
  // Error(timeout).
  // Kills it and waits until it is dead.
  void stop(LiveSandbox& live, std::chrono::milliseconds timeout = kEndTimeout) const;
  // Stops it and sets gone; false if it was gone already.
  bool stop_and_mark_gone(const LivePtr& live, std::chrono::milliseconds timeout = kEndTimeout);
  // Stops it, then removes its traces in the background.
  void end(const LivePtr& live, std::chrono::milliseconds timeout = kEndTimeout);
  // Ends a sandbox that could not be made or assigned. One that takes long to die ends later, by
  // itself.
  void give_up(const LivePtr& live);
  // A sandbox that is to end, with busy locked, and how long its death may be waited for.
  struct KillTarget {
    LivePtr live;  // null: it is gone
    std::unique_lock<std::timed_mutex> busy;
    std::chrono::milliseconds timeout;
  };
  // Throws Error(timeout).
  KillTarget lock_to_kill(const std::string& id, std::chrono::milliseconds timeout) const;
  void remove_traces(const LivePtr& live);
  // Closes the way out of a dead sandbox and returns what it has used. Throws StepError when its
  // counters cannot be read now.
  SandboxMetrics last_usage(const JournalRecord& record, Time end);
  // Remembers the usage of a sandbox that died at that time, unless its end is remembered. Throws
  // as last_usage() does.
  void record_death(const LiveSandbox& live, Time died_at);
  struct Death {
    LivePtr live;
    Time at;
    int looks = 0;  // at its counters, in vain
  };
  // Remembers a death and removes the traces, or does it later: see end_unread().
  void end_dead(Death death);
  // Called by the watcher.
  void on_exit(const std::string& id);
  void end_expired();
  void end_unread();  // tries end_dead() again

  // Sandboxes that an earlier supervisor left (recovery.cpp).
  void recover();
  void run_self_test();
  std::optional<StepError> try_disk(DiskKind disk, const std::string& empty_image);
  LivePtr adopt(const JournalRecord& record);  // null: it no longer runs
  // Remembers the usage of a sandbox that ended while no node ran. When that was is unknown; now it
  // is noticed.
  void record_missed_death(const JournalRecord& record);
  void remove_leftovers(const JournalRecord& record);
  void remove_orphans();

  // Disks and snapshots (snapshots.cpp).
  void require_space() const;  // as DiskFloor's, if sandboxes have their disks there
  // Opens the request's image, or its snapshot's. Throws Error: not_found (image or snapshot),
  // conflict, invalid.
  OpenImage open_image(const SandboxRequest& request) const;
  // Mounts a new disk, or a copy of a snapshot's. Throws StepError; not_found (snapshot).
  Fd make_disk(const SandboxRequest& request, uint64_t bytes, const std::atomic<bool>& stop);
  // Used bytes as df inside shows them: without deleted files, whose blocks the image still holds.
  int64_t disk_used(const JournalRecord& record) const;

  const NodeSettings settings_;
  const std::function<void(std::function<void()>)> post_;
  SystemClock clock_;
  UptimeClock uptime_;
  ImageStore images_;
  DiskStore disks_;
  SnapshotStore snapshots_;
  Journal journal_;
  SandboxTable table_;
  SandboxFreezer freezer_;
  DiskFloor disk_floor_;
  FinalUsageLog final_usage_;
  OwnedCgroupTree cgroups_;
  SeccompPrograms seccomp_;
  Launcher launcher_;
  IdRanges ranges_;
  EgressAttachment egress_;
  Capabilities capabilities_;
  WarmPool pool_;
  DeferredCleanup cleanup_;
  std::mutex unread_mutex_;
  std::vector<Death> unread_;  // guarded by unread_mutex_
  // Last, because their threads use the members above.
  Watcher watcher_;
  std::unique_ptr<PoolRefiller> refiller_;
  std::optional<SocketWatch> socket_watch_;
  std::optional<DescriptorWatch> descriptor_watch_;
  std::optional<CpuDebtWatch> cpu_debt_watch_;
};

}  // namespace sandgate
