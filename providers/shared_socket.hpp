#pragma once
#include <boost/asio/experimental/channel.hpp>
#include <memory>

#include "providers/web_socket.hpp"

namespace sandgate {

// A WebSocket that any number of coroutines write to, from any executor: their messages go one
// after another. One coroutine reads, on the executor that it was made on.
class SharedSocket : public std::enable_shared_from_this<SharedSocket> {
 public:
  // `executor`: the one that the socket was opened on.
  SharedSocket(std::unique_ptr<WebSocket> socket, asio::any_io_executor executor);

  Task<std::optional<WebSocket::Message>> read() { return socket_->read(); }
  Task<void> write(WebSocket::Message message);
  const std::string& protocol() const { return socket_->protocol(); }

 private:
  Task<void> write_in_turn(WebSocket::Message message);

  const asio::any_io_executor executor_;
  const std::unique_ptr<WebSocket> socket_;
  // Who writes has put something in; there is room for one.
  asio::experimental::channel<void(boost::system::error_code)> turn_;
};

}  // namespace sandgate
