#pragma once
#include <functional>
#include <string>
#include <thread>

#include "gateway/core/async.hpp"

namespace sandgate::test {

// A server on loopback that does with each connection what a script says, on a thread of its own.
class ScriptedServer {
 public:
  using Script = std::function<Task<void>(asio::ip::tcp::socket&)>;
  explicit ScriptedServer(Script script)
      : script_(std::move(script)), acceptor_(loop_, {asio::ip::make_address("127.0.0.1"), 0}) {
    asio::co_spawn(loop_, accept(), asio::detached);
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~ScriptedServer() {
    loop_.stop();
    thread_.join();
  }
  std::string url() const {
    return "http://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
  }

  // Reads a request's head.
  static Task<std::string> head(asio::ip::tcp::socket& socket) {
    std::string text;
    co_await asio::async_read_until(socket, asio::dynamic_buffer(text), "\r\n\r\n",
                                    asio::use_awaitable);
    co_return text;
  }
  static Task<void> say(asio::ip::tcp::socket& socket, std::string text) {
    co_await asio::async_write(socket, asio::buffer(text), asio::use_awaitable);
  }

 private:
  Task<void> accept() {
    for (;;) {
      auto socket = co_await acceptor_.async_accept(asio::use_awaitable);
      asio::co_spawn(loop_, serve(std::move(socket)), asio::detached);
    }
  }
  Task<void> serve(asio::ip::tcp::socket socket) { co_await script_(socket); }

  Script script_;
  asio::io_context loop_;
  asio::ip::tcp::acceptor acceptor_;
  std::thread thread_;
};

}  // namespace sandgate::test
