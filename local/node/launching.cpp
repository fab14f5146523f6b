// How a supervisor creates sandboxes.
#include <cstring>

#include "gateway/core/log.hpp"
#include "local/namespaces/step_error.hpp"
#include "local/node/launch_failure.hpp"
#include "local/node/listener.hpp"
#include "local/node/supervisor.hpp"
#include "local/node/workspaces.hpp"

namespace sandgate {
namespace {

constexpr int64_t kGib = int64_t{1} << 30;

// The part of a launch spec that follows from the order, the image and the machine.
LaunchSpec launch_spec(const SandboxOrder& order, const ImageConfig& image,
                       const Capabilities& machine) {
  LaunchSpec spec;
  spec.env = env_over(image.env, order);
  spec.allow_root = order.allow_root;
  spec.user = image.user;
  spec.home = image.home;
  spec.uid = image.uid;
  spec.gid = image.gid;
  spec.workdir = image.workdir;
  spec.disk = machine.disk;
  spec.disk_bytes = static_cast<uint64_t>(order.resources.disk_gib * kGib);
  spec.disk_inodes = DiskStore::inodes(spec.disk_bytes);
  spec.single_id = machine.single_id;
  return spec;
}

}  // namespace

void Supervisor::check_order(const SandboxOrder& order) const {
  const Resources& wanted = order.resources;
  if (!is_safe_name(order.id)) throw Error::invalid("/id", "is not a sandbox id");
  auto within = [](int64_t value, int64_t most) { return value > 0 && value <= most; };
  if (!within(wanted.milli_vcpu, capabilities_.max_milli_vcpu) ||
      !within(wanted.memory_mib, capabilities_.max_memory_mib) ||
      !within(wanted.disk_gib, capabilities_.max_disk_gib) || !within(wanted.processes, 32768)) {
    throw Error(ErrorCode::no_capacity, "this machine does not have the resources asked for");
  }
  if (order.ttl.count() <= 0) throw Error::invalid("/ttl_seconds", "must be positive");
}

JournalRecord Supervisor::create(const SandboxOrder& order) {
  tidying_.disturb();
  check_order(order);
  require_space();
  const OpenImage image = open_image(order);
  const bool own = !order.snapshot.empty() || !order.workspace.empty();  // no seat can serve it
  if (own) return launch(order, image, Owner::known);
  const LivePtr seat = take_seat(order, image.info);
  auto record = seat ? hand_over(seat, order, image.info) : std::nullopt;
  warming_->wake();  // after the hand-over, so as not to delay it
  return record ? *std::move(record) : launch(order, image, Owner::known);
}

LivePtr Supervisor::reserve(const SandboxOrder& order, const ImageInfo& image, Owner owner) {
  auto live = std::make_shared<LiveSandbox>();
  live->owned = owner == Owner::known;
  JournalRecord& record = live->record;
  record = belonging_to(order, {});
  record.image = order.image;
  record.image_digest = image.digest;
  record.image_config = image.config;
  record.resources = order.resources;
  record.cgroups = cgroups_->directories_of(order.id);
  table_.enter(live);
  try {
    const uint32_t base = ranges_.take();
    table_.amend(*live, [&](JournalRecord& entered) { entered.id_base = base; });
  } catch (const Error&) {
    table_.remove(order.id);
    throw;
  }
  return live;
}

JournalRecord Supervisor::belonging_to(const SandboxOrder& order, JournalRecord record) const {
  record.id = order.id;
  record.tenant_id = order.tenant_id;
  record.network = order.network;
  record.way_out = wants_way_out(order);
  record.created_at = clock_.now();
  record.expires_at = uptime_.now() + order.ttl;
  return record;
}

void Supervisor::start(LiveSandbox& live, const SandboxOrder& order, const OpenImage& image,
                       Owner owner) {
  Launcher::Inputs inputs;
  LaunchSpec& spec = inputs.spec;
  spec = launch_spec(order, image.info.config, capabilities_);
  spec.id_base = live.record.id_base;
  spec.awaits_owner = owner == Owner::awaited;
  inputs.image = image.root.get();
  inputs.cgroups = cgroups_->create(order.id, order.resources).fds;
  spec.cgroup_version = inputs.cgroups.empty() ? 0 : capabilities_.cgroups.version;
  spec.cpu_is_limited = spec.cgroup_version != 0 && capabilities_.cgroups.cpu;
  const Fd listener = listen_on(journal_.directory_of(order.id), "agent.sock", settings_.serve_uid);
  inputs.listener = listener.get();
  const Fd workspace = open_workspace(order, image.info.config, settings_.workspaces);
  if (workspace)
    spec.workspace =
        order.workspace_writable ? WorkspaceKind::read_write : WorkspaceKind::read_only;
  inputs.workspace = workspace.get();
  inputs.filter_calls = (order.allow_debug ? seccomp_.calls_with_debug : seccomp_.calls).get();
  inputs.filter_arguments = seccomp_.arguments.get();
  if (spec.disk == DiskKind::loop)
    inputs.make_disk = [&, bytes = spec.disk_bytes] {
      return make_disk(order, bytes, live.ending);
    };
  note_started(live, launcher_.launch(std::move(inputs)), owner);
}

void Supervisor::note_started(LiveSandbox& live, Launcher::Launched launched, Owner owner) {
  live.pidfd = std::move(launched.pidfd);
  live.disk = std::move(launched.disk);
  live.mounts = std::move(launched.mounts);
  table_.amend(live, [&](JournalRecord& record) {
    record.pid = launched.pid;
    record.start_time = launched.start_time;
    record.state = owner == Owner::awaited ? RecordState::waiting : RecordState::running;
  });
}

JournalRecord Supervisor::launch(const SandboxOrder& order, const OpenImage& image, Owner owner) {
  LivePtr live = reserve(order, image.info, owner);
  std::lock_guard busy(live->busy);
  const Copying copying(*live, !order.snapshot.empty());
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
