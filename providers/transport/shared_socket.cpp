#include "providers/transport/shared_socket.hpp"

namespace sandgate {

SharedSocket::SharedSocket(std::unique_ptr<WebSocket> socket, asio::any_io_executor executor)
    : socket_(std::move(socket)), executor_(std::move(executor)), turn_(executor_, 1) {}

Task<void> SharedSocket::write(WebSocket::Message message) {
  auto work = [self = shared_from_this(), message = std::move(message)]() mutable {
    return self->write_in_turn(std::move(message));
  };
  co_await asio::co_spawn(executor_, std::move(work), asio::use_awaitable);
}

Task<void> SharedSocket::write_in_turn(WebSocket::Message message) {
  co_await turn_.async_send(boost::system::error_code(), asio::use_awaitable);
  struct GivesBack {
    Turn& turn;
    ~GivesBack() {
      turn.try_receive([](boost::system::error_code) {});
    }
  } gives_back{turn_};
  co_await socket_->write(std::move(message));
}

}  // namespace sandgate
