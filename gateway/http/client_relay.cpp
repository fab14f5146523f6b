#include "gateway/http/client_relay.hpp"

namespace sandgate::http {

bool ClientRelay::keeps_alive() {
  // An unread body may never arrive completely, so the start of the next request is unknown.
  return !upgraded_ && body_.ended() && may_keep_alive();
}

Task<void> ClientRelay::write(std::span<const asio::const_buffer> buffers,
                              std::chrono::milliseconds limit) {
  started_ = true;
  return transport_.write(buffers, limit);
}

void ClientRelay::upgrade() {
  upgraded_ = true;
  when_upgraded();
}

Task<size_t> ClientRelay::read(std::span<char> into) {
  if (buffer_.size() > 0) {
    const size_t bytes = std::min(into.size(), buffer_.size());
    unread(buffer_).copy(into.data(), bytes);
    buffer_.consume(bytes);
    co_return bytes;
  }
  co_return co_await transport_.read_some(asio::buffer(into.data(), into.size()));
}

}  // namespace sandgate::http
