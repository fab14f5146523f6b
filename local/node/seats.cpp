// Seats: sandboxes of the warm pool, started in advance and assigned to owners.
#include "gateway/core/log.hpp"
#include "gateway/core/random.hpp"
#include "local/agent/client.hpp"
#include "local/node/supervisor.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::seconds kBindTimeout{2};
constexpr size_t kSeatBytes = 12;

SeatClass class_of(const SandboxOrder& order, const ImageInfo& image) {
  return {order.image, image.digest, order.resources, order.allow_debug, image.config};
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

LivePtr Supervisor::take_seat(const SandboxOrder& order, const ImageInfo& image) {
  const auto seat = pool_.take(class_of(order, image), std::chrono::steady_clock::now());
  return seat ? table_.lookup(*seat) : nullptr;
}

std::optional<JournalRecord> Supervisor::hand_over(const LivePtr& seat, const SandboxOrder& order,
                                                   const ImageInfo& image) {
  std::lock_guard busy(seat->busy);
  AgentConfiguration wanted{.env = env_over(image.config.env, order),
                            .allow_root = order.allow_root};
  const std::string name = seat->record.id;
  try {
    bind_owner(journal_.directory_of(name) + "/agent.sock", std::move(wanted));
  } catch (const std::exception& failure) {
    log::warn("a waiting sandbox failed", {{"seat", name}, {"reason", failure.what()}});
    end(seat);
    return std::nullopt;
  }
  try {
    rename(seat, order);
    open_way_out(*seat);
    watcher_.add(order.id, seat->pidfd.get());
    return seat->record;
  } catch (...) {
    end(seat);
    disks_.remove(name);
    journal_.remove(name);
    throw;
  }
}

// The disk first: after a crash in between, the journal entry removes the seat, and the renamed
// disk is removed as unknown.
void Supervisor::rename(const LivePtr& seat, const SandboxOrder& order) {
  const std::string from = seat->record.id;
  JournalRecord record = belonging_to(order, seat->record);
  record.state = RecordState::running;
  table_.hand_over(seat, record);
  if (capabilities_.disk == DiskKind::loop) disks_.rename(from, order.id);
  journal_.hand_over(from, record);
}

std::string Supervisor::make_seat(const SeatClass& seat_class) {
  require_space();
  SandboxOrder order;
  order.id = "seat-" + random_hex(kSeatBytes);
  order.image = seat_class.image;
  order.resources = seat_class.resources;
  order.allow_debug = seat_class.allow_debug;
  const OpenImage image = images_.open(order.image);
  if (image.info.digest != seat_class.image_digest || image.info.config != seat_class.config) {
    throw Error(ErrorCode::conflict, "the image was replaced");
  }
  return launch(order, image, Owner::awaited).id;
}

void Supervisor::end_seat(const std::string& seat) {
  try {
    kill(seat);
  } catch (const std::exception& failure) {
    log::warn("a waiting sandbox is left", {{"seat", seat}, {"reason", failure.what()}});
  }
}

void Supervisor::drop_seats(const std::string& image) {
  for (const std::string& seat : pool_.drop_image(image)) end_seat(seat);
}

}  // namespace sandgate
