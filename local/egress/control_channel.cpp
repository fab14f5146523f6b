#include "local/egress/control_channel.hpp"

#include "local/fd_passing.hpp"

namespace sandgate::egress {
namespace {

constexpr size_t kMaxPacket = 512 * 1024;

}  // namespace

void send_control(int socket, const Json& body, const std::vector<int>& fds) {
  if (send_with_fds(socket, body.dump(), fds) < 0)
    throw Error(ErrorCode::unavailable, "the way out of sandboxes is closed");
}

std::optional<ControlMessage> receive_control(int socket) {
  std::string text(kMaxPacket, '\0');
  FdMessage packet = receive_with_fds(socket, text);
  if (packet.size <= 0 || packet.cut) return std::nullopt;
  ControlMessage received;
  received.lost = packet.fds_lost;
  if (!received.lost) received.fds = std::move(packet.fds);
  text.resize(static_cast<size_t>(packet.size));
  try {
    received.body = parse_json(text);
  } catch (const Error&) {
    return std::nullopt;
  }
  return received;
}

}  // namespace sandgate::egress
