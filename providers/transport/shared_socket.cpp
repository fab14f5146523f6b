#include "providers/transport/shared_socket.hpp"

namespace sandgate {

SharedSocket::SharedSocket(std::unique_ptr<WebSocket> socket, asio::any_io_executor executor)
    : socket_(std::move(socket)), executor_(std::move(executor)), write_mutex_(executor_, 1) {}

Task<void> SharedSocket::write(WebSocket::Message message) {
  auto work = [self = shared_from_this(), message = std::move(message)]() mutable {
    return self->write_exclusively(std::move(message));
  };
  co_await asio::co_spawn(executor_, std::move(work), asio::use_awaitable);
}

Task<void> SharedSocket::write_exclusively(WebSocket::Message message) {
  co_await write_mutex_.async_send(boost::system::error_code(), asio::use_awaitable);
  struct GivesBack {
    WriteMutex& turn;
    ~GivesBack() {
      turn.try_receive([](boost::system::error_code) {});
    }
  } gives_back{write_mutex_};
  co_await socket_->write(std::move(message));
}

}  // namespace sandgate
