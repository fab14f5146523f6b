#include "gateway/ports/tunnel.hpp"

#include "gateway/core/settle.hpp"

namespace sandgate::ports {
namespace {

constexpr size_t kUpwardBytes = 16 * 1024;

Task<void> pass_down(http::ClientSide& client, AppConnection& app,
                     std::chrono::milliseconds silence) {
  for (;;) {
    const std::string_view bytes = app.unread();
    if (!bytes.empty()) {
      const std::array<asio::const_buffer, 1> buffers{asio::buffer(bytes.data(), bytes.size())};
      co_await client.write(buffers, silence);
      app.consume(bytes.size());
    }
    client.start_timer(silence);
    const size_t got = co_await app.read();
    if (got == 0) co_return;
  }
}

Task<void> pass_up(http::ClientSide& client, AppConnection& app,
                   std::chrono::milliseconds silence) {
  const std::unique_ptr<char[]> bytes(new char[kUpwardBytes]);
  const std::span<char> room(bytes.get(), kUpwardBytes);
  for (;;) {
    const size_t got = co_await client.read(room);
    if (got == 0) break;
    client.start_timer(silence);
    const std::array<asio::const_buffer, 1> buffers{asio::buffer(bytes.get(), got)};
    const bool taken = co_await app.write(buffers);
    if (!taken) co_return;
  }
  // Half-close: the program may still send data.
  app.end_writing();
}

}  // namespace

Task<void> tunnel(http::ClientSide& client, AppConnection& app, std::chrono::milliseconds silence) {
  client.upgrade();
  auto down = pass_down(client, app, silence);
  auto up = pass_up(client, app, silence);
  co_await with_companion(std::move(down), std::move(up));
}

}  // namespace sandgate::ports
