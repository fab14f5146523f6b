#pragma once
#include <boost/asio/experimental/channel.hpp>
#include <memory>
#include <optional>
#include <string>

#include "providers/transport/web_socket.hpp"

namespace sandgate {

// A WebSocket with serialized writes, which may come from any thread. Only one coroutine may read,
// on the executor that opened the socket.
class SharedSocket : public std::enable_shared_from_this<SharedSocket> {
 public:
  SharedSocket(std::unique_ptr<WebSocket> socket, asio::any_io_executor executor);

  Task<std::optional<WebSocket::Message>> read() { return socket_->read(); }
  Task<void> write(WebSocket::Message message);
  const std::string& protocol() const { return socket_->protocol(); }

 private:
  using WriteMutex = asio::experimental::channel<void(boost::system::error_code)>;
  Task<void> write_exclusively(WebSocket::Message message);

  const std::unique_ptr<WebSocket> socket_;
  const asio::any_io_executor executor_;
  WriteMutex write_mutex_;  // a mutex: holds one message during a write
};

}  // namespace sandgate
