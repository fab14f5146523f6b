#include "providers/shared_socket.hpp"

namespace sandgate {

SharedSocket::SharedSocket(std::unique_ptr<WebSocket> socket, asio::any_io_executor executor)
    : executor_(executor), socket_(std::move(socket)), turn_(executor, 1) {}

Task<void> SharedSocket::write_in_turn(WebSocket::Message message) {
  co_await turn_.async_send(boost::system::error_code(), asio::use_awaitable);
  struct Leave {
    decltype(turn_)& turn;
    ~Leave() {
      turn.try_receive([](auto...) {});
    }
  } const leave{turn_};
  co_await socket_->write(std::move(message));
}

Task<void> SharedSocket::write(WebSocket::Message message) {
  auto job = [self = shared_from_this(), message = std::move(message)]() mutable -> Task<void> {
    return self->write_in_turn(std::move(message));
  };
  co_await asio::co_spawn(executor_, std::move(job), asio::use_awaitable);
}

}  // namespace sandgate
