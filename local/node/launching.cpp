// How a supervisor's sandboxes are started.
#include <cstring>

#include "gateway/core/log.hpp"
#include "local/namespaces/step_error.hpp"
#include "local/node/launch_failure.hpp"
#include "local/node/listener.hpp"
#include "local/node/supervisor.hpp"

namespace sandgate {
namespace {

constexpr int64_t kGib = int64_t{1} << 30;

void set_programs(LaunchSpec& spec, const SandboxOrder& order, const ImageInfo& image) {
  spec.env = env_over(image.env, order);
  spec.allow_root = order.allow_root;
  spec.user = image.user;
  spec.home = image.home;
  spec.uid = image.uid;
  spec.gid = image.gid;
  spec.workdir = image.workdir;
}

}  // namespace

Supervisor::LivePtr Supervisor::reserve(const SandboxOrder& order, const ImageInfo& image,
                                        Owner owner) {
  auto live = std::make_shared<Live>();
  live->owned = owner == Owner::known;
  JournalRecord& record = live->record;
  record.id = order.id;
  record.tenant_id = order.tenant_id;
  record.image = order.image;
  record.image_digest = image.digest;
  record.resources = order.resources;
  record.network = order.network;
  record.way_out = wants_way_out(order);
  record.created_at = clock_.now();
  record.expires_at = record.created_at + order.ttl;
  record.cgroups = cgroups_->directories_of(order.id);
  std::lock_guard lock(mutex_);
  if (!sandboxes_.emplace(order.id, live).second) {
    throw Error(ErrorCode::conflict, "a sandbox of this id exists");
  }
  try {
    record.id_base = ranges_.take();
  } catch (const Error&) {
    sandboxes_.erase(order.id);
    throw;
  }
  return live;
}

void Supervisor::start(Live& live, const SandboxOrder& order, const OpenImage& image, Owner owner) {
  const JournalRecord& record = live.record;
  Launcher::Inputs inputs;
  LaunchSpec& spec = inputs.spec;
  spec.id_base = record.id_base;
  spec.disk_bytes = static_cast<uint64_t>(record.resources.disk_gib * kGib);
  spec.disk_inodes = DiskStore::inodes(spec.disk_bytes);
  spec.disk = capabilities_.disk;
  set_programs(spec, order, image.info);
  spec.awaits_owner = owner == Owner::awaited;
  spec.single_id = capabilities_.single_id;
  inputs.cgroups = cgroups_->create(record.id, record.resources).fds;
  spec.cgroup_version = inputs.cgroups.empty() ? 0 : capabilities_.cgroups.version;
  spec.cpu_is_limited = spec.cgroup_version != 0 && capabilities_.cgroups.cpu;
  Fd listener = listen_on(journal_.directory_of(record.id), "agent.sock", settings_.serve_uid);
  Fd workspace = open_workspace(order, image.info);
  if (workspace) {
    spec.workspace =
        order.workspace_writable ? WorkspaceKind::read_write : WorkspaceKind::read_only;
  }
  inputs.workspace = workspace.get();
  inputs.image = image.root.get();
  inputs.listener = listener.get();
  inputs.filter_calls = (order.allow_debug ? seccomp_.calls_with_debug : seccomp_.calls).get();
  inputs.filter_arguments = seccomp_.arguments.get();
  if (spec.disk == DiskKind::loop) {
    inputs.make_disk = [&, bytes = spec.disk_bytes] {
      return make_disk(order, bytes, live.ending);
    };
  }
  Launcher::Launched launched = launcher_.launch(std::move(inputs));
  live.pidfd = std::move(launched.pidfd);
  live.disk = std::move(launched.disk);
  live.mounts = std::move(launched.mounts);
  std::lock_guard lock(mutex_);
  live.record.pid = launched.pid;
  live.record.start_time = launched.start_time;
  live.record.state = owner == Owner::awaited ? RecordState::waiting : RecordState::running;
}

JournalRecord Supervisor::launch(const SandboxOrder& order, const OpenImage& image, Owner owner) {
  LivePtr live = reserve(order, image.info, owner);
  std::lock_guard busy(live->busy);
  const Copying copying(live->copying, !order.snapshot.empty());
  try {
    journal_.write(live->record);
    start(*live, order, image, owner);
    open_way_out(*live);
    journal_.write(live->record);
    watcher_.add(order.id, live->pidfd.get());
    return live->record;
  } catch (const StepError& failure) {
    log::error("sandbox not made", {{"sandbox", order.id},
                                    {"step", failure.what()},
                                    {"error", std::strerror(failure.number)}});
    end(live);
    throw to_error(failure);
  } catch (...) {
    end(live);
    throw;
  }
}

}  // namespace sandgate
