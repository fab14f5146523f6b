#pragma once
#include <atomic>
#include <functional>
#include <map>
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
#include "local/node/disk_space.hpp"
#include "local/node/egress_host.hpp"
#include "local/node/ends.hpp"
#include "local/node/id_ranges.hpp"
#include "local/node/journal.hpp"
#include "local/node/order.hpp"
#include "local/node/probe.hpp"
#include "local/node/settings.hpp"
#include "local/node/snapshot_store.hpp"
#include "local/node/tcp_watch.hpp"
#include "local/node/warm_pool.hpp"
#include "local/node/warming.hpp"
#include "local/node/watcher.hpp"

namespace sandgate {

// Makes, watches and ends the sandboxes of one machine. Every call may block on the kernel and
// may be made from several threads at once. What it does is in the journal before it is done, so
// that a supervisor that starts after a crash adopts what runs and removes the rest. Sandboxes
// that wait for an owner (seats) are nobody's: find() and list() do not show them. The class is
// one, its topics have a file each, named at their members.
class Supervisor {
 public:
  // Adopts or sweeps what an earlier supervisor of the same settings left. `post` runs work on a
  // thread that may block, and survives what it throws. Throws Error or StepError when this machine
  // cannot run sandboxes.
  Supervisor(NodeSettings settings, std::function<void(std::function<void()>)> post);
  ~Supervisor();  // sandboxes live on, but those that wait for an owner

  // Throws Error: invalid, conflict (the id is in use), not_found (image), no_capacity, internal.
  JournalRecord create(const SandboxOrder& order);
  // Returns when every process of the sandbox is gone; the rest of it goes soon after. Unknown
  // ids are fine. Throws Error(timeout) when it does not end.
  void kill(const std::string& id);
  // The same, and what the sandbox had counted (processor time and bytes sent) by its end. Kept for
  // whoever asks again, by this or counted_of(), which know it also after a crash. Empty: unknown.
  std::optional<SandboxMetrics> finish(const std::string& id);
  std::optional<SandboxMetrics> counted_of(const std::string& id) const { return ends_.find(id); }
  std::optional<JournalRecord> find(const std::string& id) const;
  std::vector<JournalRecord> list() const;
  SandboxMetrics metrics(const std::string& id);  // throws Error(not_found)
  void extend(const std::string& id, std::chrono::seconds ttl);  // throws Error(not_found)
  // What a running sandbox may reach from now on. Throws Error(not_found, conflict, unsupported,
  // unavailable).
  void set_network(const std::string& id, const NetworkPolicy& network);

  // Stops every process where it stands; memory stays. Already paused: nothing happens. Throws
  // Error: not_found, conflict (a process cannot be stopped now), unsupported.
  void pause(const std::string& id);
  void resume(const std::string& id);  // throws Error(not_found, conflict)
  // A copy of the sandbox's disk, which stands still meanwhile; the same id again gives the same
  // snapshot. Throws Error: not_found, conflict, unsupported, no_capacity.
  StoredSnapshot snapshot(const std::string& id, const std::string& snapshot_id, bool lasting);
  SnapshotStore& snapshots() { return snapshots_; }

  ImageStore& images() { return images_; }
  bool image_in_use(const std::string& name) const;
  void drop_seats(const std::string& image);  // before the image goes; returns when they ended
  const Capabilities& capabilities() const { return capabilities_; }

 private:
  struct Live {
    std::timed_mutex busy;  // held while it is being made, changed or ended
    std::mutex recording;  // held while its journal entry is changed; taken after busy
    JournalRecord record;  // guarded by Supervisor::mutex_
    Fd pidfd;  // guarded by busy
    // Guarded by busy: taken down when we let go, not while somebody waits for the end.
    Fd disk, mounts;
    bool gone = false;  // guarded by Supervisor::mutex_: no longer to be seen
    bool owned = true;  // guarded by Supervisor::mutex_: else a seat, which is nobody's to be seen
    bool overdue = false;  // guarded by Supervisor::mutex_: its time is over and it was told to end
    std::atomic<bool> ending{false};  // somebody waits for busy to end it
    std::atomic<bool> copying{false};  // busy is held for as long as a disk takes to copy
  };
  using LivePtr = std::shared_ptr<Live>;
  struct Copying {  // sets a flag for as long as it lives
    Copying(std::atomic<bool>& flag, bool on) : flag(flag) { flag = on; }
    ~Copying() { flag = false; }
    Copying(const Copying&) = delete;
    std::atomic<bool>& flag;
  };

  // One that is known, and its locks (supervisor.cpp).
  LivePtr lookup(const std::string& id) const;
  LivePtr existing(const std::string& id) const;  // throws Error(not_found)
  // busy, but not for as long as a copy or an end takes: one sandbox must not hold up the threads
  // that all have. Throws Error(conflict).
  static std::unique_lock<std::timed_mutex> hold(Live& live);
  // Called with live.busy held: who waited for it may find that the sandbox has ended meanwhile.
  // Throws Error(not_found).
  void check_alive(const Live& live) const;
  // Changes the record of a running sandbox here and in the journal. Throws Error(not_found).
  void note(Live& live, const std::function<void(JournalRecord&)>& change);

  // Making one (launching.cpp): its name and ids are reserved, the journal told, the launcher sent,
  // the way out opened.
  enum class Owner { known, awaited };  // awaited: it becomes a seat
  void check_order(const SandboxOrder& order) const;
  JournalRecord launch(const SandboxOrder& order, const OpenImage& image, Owner owner);
  LivePtr reserve(const SandboxOrder& order, const ImageInfo& image, Owner owner);
  void start(Live& live, const SandboxOrder& order, const OpenImage& image, Owner owner);
  void note_started(Live& live, Launcher::Launched launched, Owner owner);
  // The record with whose it is, what it may reach and how long it lives, from now.
  JournalRecord belonging_to(const SandboxOrder& order, JournalRecord record) const;
  // Called with mutex_ held. Throws Error(conflict).
  void enter(const std::string& id, const LivePtr& live);

  // Seats (seats.cpp): sandboxes started before anybody asks.
  LivePtr take_seat(const SandboxOrder& order, const ImageInfo& image);
  // The seat becomes the ordered sandbox; empty when its agent fails, and then it is ended.
  std::optional<JournalRecord> hand_over(const LivePtr& seat, const SandboxOrder& order,
                                         const ImageInfo& image);
  void rename(const LivePtr& seat, const SandboxOrder& order);
  std::string make_seat(const SeatClass& seat_class);
  void end_seat(const std::string& seat);

  // Ending (ending.cpp). These three are called with live.busy held, possibly more than once, and
  // throw Error(timeout).
  void stop(Live& live);  // kills, and waits until it is dead
  bool halt(const LivePtr& live);  // the same, and it is seen no more; false: it was so already
  void end(const LivePtr& live);  // kills; then the traces go in the background
  // The sandbox with busy held, to be ended; empty when it is gone. Throws Error(timeout).
  std::pair<LivePtr, std::unique_lock<std::timed_mutex>> hold_to_end(const std::string& id) const;
  void remove_traces(const LivePtr& live);
  // Found by the watcher.
  void on_exit(const std::string& id);
  void end_expired();

  // What an earlier supervisor left (recovery.cpp).
  void recover();
  void try_out();
  LivePtr adopt(const JournalRecord& record);  // null: it is gone
  void sweep(const JournalRecord& record);
  void sweep_strays();

  // Standing still (pausing.cpp).
  void note_paused(Live& live, bool paused);
  void stand_still(const JournalRecord& record) const;
  void restore_pause(const JournalRecord& record) const;

  // Disks, and the snapshots that they begin with (snapshots.cpp).
  // Throws Error: not_found (image or snapshot), conflict, invalid.
  OpenImage open_image(const SandboxOrder& order) const;
  // The mount of a new disk, or of a snapshot's copy. Throws StepError; not_found (snapshot).
  Fd make_disk(const SandboxOrder& order, uint64_t bytes, const std::atomic<bool>& stop);
  // As df inside says: what was deleted is free again, though the image keeps its blocks.
  int64_t disk_used(const JournalRecord& record) const;

  // The disk below all disks, which may be full (full_disk.cpp).
  // Before what needs space on it begins. Throws Error(no_capacity).
  void require_space() const;
  // Between the pieces of a copy: throws StepError when it is to be given up.
  void check_copy(const std::atomic<bool>& stop) const;
  // The only way to the file system of an adopted sandbox. None: it is gone.
  static Fd open_root(const JournalRecord& record);
  // Everything written inside gets its place in the disk image. Called with live.busy held. Throws
  // StepError; of an adopted sandbox nobody learns that something was lost before.
  void flush_disk(const Live& live) const;
  void watch_space();
  void flush_all() const;

  // The directory an order names, when the settings allow it; one that its programs are to write
  // and cannot is logged. Throws Error(forbidden, not_found). (workspaces.cpp)
  Fd open_workspace(const SandboxOrder& order, const ImageInfo& image) const;
  Fd find_workspace(const std::string& path) const;

  // The ways out (way_out.cpp).
  void open_way_out(const Live& live);
  void reopen_ways_out(std::vector<LivePtr> adopted, const std::stop_token& stop);
  bool reopen(Live& live, bool last);
  std::string byte_count_of(const std::string& id) const;

  // Where control groups do not: see TcpWatch. A sandbox whose connections hold more than it may
  // loses its programs, and lives on. (tcp_memory.cpp)
  void end_tcp_hoards() const;

  const NodeSettings settings_;
  const std::function<void(std::function<void()>)> post_;
  const DiskSpace space_;
  std::atomic<bool> scarce_{false};  // as the watcher's last look was
  SystemClock clock_;
  ImageStore images_;
  DiskStore disks_;
  SnapshotStore snapshots_;
  Journal journal_;
  Ends ends_;
  OwnedCgroupTree cgroups_;
  SeccompPrograms seccomp_;
  Launcher launcher_;
  IdRanges ranges_;
  EgressHost egress_;
  Capabilities capabilities_;
  mutable std::mutex mutex_;
  std::map<std::string, LivePtr> sandboxes_;
  WarmPool pool_;
  Watcher watcher_;  // its thread uses the others
  std::unique_ptr<Warming> warming_;  // its thread uses all of them
  std::unique_ptr<TcpWatch> tcp_watch_;  // so does its
  std::jthread reopening_;  // the ways out of adopted sandboxes; uses all of them
};

}  // namespace sandgate
