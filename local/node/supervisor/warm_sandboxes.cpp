// Sandboxes of the warm pool: started in advance and assigned to owners.
#include "gateway/core/log.hpp"
#include "gateway/core/random.hpp"
#include "local/agent/client/client.hpp"
#include "local/node/supervisor/supervisor.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::seconds kBindTimeout{2};
constexpr size_t kWarmIdBytes = 12;

WarmClass warm_class_of(const SandboxRequest& request, const ImageInfo& image) {
  return {request.image, image.digest, request.resources, request.allow_debug, image.config};
}

// Runs the agent client's coroutine to its end, because threads of the node block.
void bind_owner(const std::string& socket, AgentConfiguration wanted) {
  asio::io_context loop(1);
  const AgentClient agent(socket);
  auto bound = asio::co_spawn(loop, agent.configure(std::move(wanted)), asio::use_future);
  loop.run_for(kBindTimeout);
  if (bound.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    throw Error(ErrorCode::timeout, "the sandbox's agent does not answer");
  }
  bound.get();
}

}  // namespace

LivePtr Supervisor::take_warm(const SandboxRequest& request, const ImageInfo& image) {
  const auto warm = pool_.take(warm_class_of(request, image), std::chrono::steady_clock::now());
  return warm ? table_.lookup(*warm) : nullptr;
}

std::optional<JournalRecord> Supervisor::assign(const LivePtr& warm, const SandboxRequest& request,
                                                const ImageInfo& image) {
  std::lock_guard busy(warm->busy);
  AgentConfiguration wanted{.env = env_over(image.config.env, request),
                            .allow_root = request.allow_root};
  const std::string name = warm->record.id;
  try {
    bind_owner(journal_.directory_of(name) + "/agent.sock", std::move(wanted));
  } catch (const std::exception& failure) {
    log::warn("a waiting sandbox failed", {{"seat", name}, {"reason", failure.what()}});
    give_up(warm);
    return std::nullopt;
  }
  try {
    rename(warm, request);
    egress_.attach(*warm);
    watcher_.add(request.id, warm->pidfd.get());
    return warm->record;
  } catch (...) {
    give_up(warm);
    disks_.remove(name);
    journal_.remove(name);
    throw;
  }
}

// The disk first: after a crash in between, the journal entry removes the warm sandbox, and the
// renamed disk is removed as unknown.
void Supervisor::rename(const LivePtr& warm, const SandboxRequest& request) {
  const std::string from = warm->record.id;
  JournalRecord record = assigned_record(request, warm->record);
  record.state = RecordState::running;
  table_.assign(warm, record);
  if (capabilities_.disk == DiskKind::loop) disks_.rename(from, request.id);
  journal_.assign(from, record);
}

std::string Supervisor::make_warm(const WarmClass& warm_class) {
  require_space();
  SandboxRequest request;
  request.id = "seat-" + random_hex(kWarmIdBytes);
  request.image = warm_class.image;
  request.resources = warm_class.resources;
  request.allow_debug = warm_class.allow_debug;
  const OpenImage image = images_.open(request.image);
  if (image.info.digest != warm_class.image_digest || image.info.config != warm_class.config) {
    throw Error(ErrorCode::conflict, "the image was replaced");
  }
  return launch(request, image, Owner::awaited).id;
}

void Supervisor::end_warm(const std::string& warm) {
  try {
    kill(warm);
  } catch (const std::exception& failure) {
    log::warn("a waiting sandbox is left", {{"seat", warm}, {"reason", failure.what()}});
  }
}

void Supervisor::drop_warm(const std::string& image) {
  for (const std::string& warm : pool_.drop_image(image)) end_warm(warm);
}

}  // namespace sandgate
