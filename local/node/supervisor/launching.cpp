// How a supervisor creates sandboxes.
#include <cstring>

#include "gateway/core/log.hpp"
#include "local/namespaces/step_error.hpp"
#include "local/node/server/listener.hpp"
#include "local/node/storage/workspaces.hpp"
#include "local/node/supervisor/launch_failure.hpp"
#include "local/node/supervisor/supervisor.hpp"

namespace sandgate {
namespace {

constexpr int64_t kGib = int64_t{1} << 30;

// The part of a launch spec that follows from the order, the image and the machine.
LaunchSpec launch_spec(const SandboxRequest& request, const ImageConfig& image,
                       const Capabilities& machine) {
  LaunchSpec spec;
  spec.env = env_over(image.env, request);
  spec.allow_root = request.allow_root;
  spec.user = image.user;
  spec.home = image.home;
  spec.uid = image.uid;
  spec.gid = image.gid;
  spec.workdir = image.workdir;
  spec.disk = machine.disk;
  spec.disk_bytes = static_cast<uint64_t>(request.resources.disk_gib * kGib);
  spec.disk_inodes = DiskStore::inodes(spec.disk_bytes);
  spec.single_id = machine.single_id;
  return spec;
}

}  // namespace

void Supervisor::check_request(const SandboxRequest& request) const {
  const Resources& wanted = request.resources;
  if (!is_safe_name(request.id)) throw Error::invalid("/id", "is not a sandbox id");
  auto within = [](int64_t value, int64_t most) { return value > 0 && value <= most; };
  if (!within(wanted.milli_vcpu, capabilities_.max_milli_vcpu) ||
      !within(wanted.memory_mib, capabilities_.max_memory_mib) ||
      !within(wanted.disk_gib, capabilities_.max_disk_gib) || !within(wanted.processes, 32768)) {
    throw Error(ErrorCode::no_capacity, "this machine does not have the resources asked for");
  }
  if (request.ttl.count() <= 0) throw Error::invalid("/ttl_seconds", "must be positive");
}

JournalRecord Supervisor::create(const SandboxRequest& request) {
  cleanup_.note_activity();
  check_request(request);
  require_space();
  const OpenImage image = open_image(request);
  const bool own = !request.snapshot.empty() || !request.workspace.empty();  // none is warm
  if (own) return launch(request, image, Owner::known);
  const LivePtr warm = take_warm(request, image.info);
  auto record = warm ? assign(warm, request, image.info) : std::nullopt;
  if (!record) record = launch(request, image, Owner::known);
  refiller_->wake();  // afterwards, so as not to delay it
  return *std::move(record);
}

LivePtr Supervisor::reserve(const SandboxRequest& request, const ImageInfo& image, Owner owner) {
  auto live = std::make_shared<LiveSandbox>();
  live->owned = owner == Owner::known;
  JournalRecord& record = live->record;
  record = assigned_record(request, {});
  record.image = request.image;
  record.image_digest = image.digest;
  record.image_config = image.config;
  record.resources = request.resources;
  record.cgroups = cgroups_->directories_of(request.id);
  table_.insert(live);
  try {
    const uint32_t base = ranges_.take();
    table_.update_in_memory(*live, [&](JournalRecord& entered) { entered.id_base = base; });
  } catch (const Error&) {
    table_.remove(request.id);
    throw;
  }
  return live;
}

JournalRecord Supervisor::assigned_record(const SandboxRequest& request,
                                          JournalRecord record) const {
  record.id = request.id;
  record.tenant_id = request.tenant_id;
  record.network = request.network;
  record.has_egress = needs_egress(request);
  record.created_at = clock_.now();
  record.expires_at = uptime_.now() + request.ttl;
  return record;
}

void Supervisor::start(LiveSandbox& live, const SandboxRequest& request, const OpenImage& image,
                       Owner owner) {
  Launcher::Inputs inputs;
  LaunchSpec& spec = inputs.spec;
  spec = launch_spec(request, image.info.config, capabilities_);
  spec.id_base = live.record.id_base;
  spec.awaits_owner = owner == Owner::awaited;
  inputs.image = image.root.get();
  spec.cgroup_version = capabilities_.cgroups.version;
  if (spec.cgroup_version != 0)
    inputs.make_cgroups = [&] { return cgroups_->create(request.id, request.resources).fds; };
  spec.cpu_is_limited = spec.cgroup_version != 0 && capabilities_.cgroups.cpu;
  const Fd listener =
      listen_on(journal_.directory_of(request.id), "agent.sock", settings_.serve_uid);
  inputs.listener = listener.get();
  const Fd workspace = open_workspace(request, image.info.config, settings_.workspaces);
  if (workspace)
    spec.workspace =
        request.workspace_writable ? WorkspaceKind::read_write : WorkspaceKind::read_only;
  inputs.workspace = workspace.get();
  inputs.filter_calls = (request.allow_debug ? seccomp_.calls_with_debug : seccomp_.calls).get();
  inputs.filter_arguments = seccomp_.arguments.get();
  if (spec.disk == DiskKind::loop)
    inputs.make_disk = [&, bytes = spec.disk_bytes] {
      return make_disk(request, bytes, live.ending);
    };
  note_started(live, launcher_.launch(std::move(inputs)), owner);
}

void Supervisor::note_started(LiveSandbox& live, Launcher::Launched launched, Owner owner) {
  live.pidfd = std::move(launched.pidfd);
  live.disk = std::move(launched.disk);
  live.mounts = std::move(launched.mounts);
  table_.update_in_memory(live, [&](JournalRecord& record) {
    record.pid = launched.pid;
    record.start_time = launched.start_time;
    record.state = owner == Owner::awaited ? RecordState::waiting : RecordState::running;
  });
}

JournalRecord Supervisor::launch(const SandboxRequest& request, const OpenImage& image,
                                 Owner owner) {
  LivePtr live = reserve(request, image.info, owner);
  std::lock_guard busy(live->busy);
  const Copying copying(*live, !request.snapshot.empty());
  try {
    journal_.write(live->record);
    start(*live, request, image, owner);
    egress_.attach(*live);
    journal_.write(live->record);
    watcher_.add(request.id, live->pidfd.get());
    return live->record;
  } catch (const StepError& failure) {
    log::error("sandbox not made", {{"sandbox", request.id},
                                    {"step", failure.what()},
                                    {"error", std::strerror(failure.number)}});
    give_up(live);
    throw to_error(failure);
  } catch (...) {
    give_up(live);
    throw;
  }
}

}  // namespace sandgate
