#include "tests/cli/scripted_server.hpp"

#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

namespace sandgate::cli {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using Tcp = asio::ip::tcp;

ScriptedServer::ScriptedServer(Answer answer)
    : answer_(std::move(answer)),
      acceptor_(io_, Tcp::endpoint(asio::ip::make_address("127.0.0.1"), 0)),
      thread_([this] { serve(); }) {}

ScriptedServer::~ScriptedServer() {
  stopping_ = true;
  boost::system::error_code ignored;
  Tcp::socket wake(io_);
  wake.connect(acceptor_.local_endpoint(), ignored);
  thread_.join();
  for (std::thread& one : connections_) one.join();
}

std::string ScriptedServer::url() const {
  return "http://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
}

std::vector<ScriptedServer::Request> ScriptedServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void ScriptedServer::serve() {
  for (;;) {
    Tcp::socket socket(io_);
    boost::system::error_code failure;
    acceptor_.accept(socket, failure);
    if (failure || stopping_) return;
    connections_.emplace_back(
        [this, one = std::move(socket)]() mutable { handle(std::move(one)); });
  }
}

void ScriptedServer::handle(Tcp::socket socket) {
  boost::beast::flat_buffer buffer;
  http::request_parser<http::string_body> parser;
  parser.body_limit(64 << 20);
  boost::system::error_code failure;
  http::read(socket, buffer, parser, failure);
  if (failure) return;
  const auto& got = parser.get();
  Request request{std::string(got.method_string()), std::string(got.target()), "", got.body(), {}};
  for (const auto& field : got)
    request.head += std::string(field.name_string()) + ": " + std::string(field.value()) + "\n";
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
  }
  request.send = [&](const std::string& part) { asio::write(socket, asio::buffer(part), failure); };
  const std::string answer = answer_(request);
  asio::write(socket, asio::buffer(answer), failure);
  socket.shutdown(Tcp::socket::shutdown_both, failure);
}

std::string ScriptedServer::json(int status, const std::string& body) {
  const std::string type = status < 400 ? "application/json" : "application/problem+json";
  return "HTTP/1.1 " + std::to_string(status) + " x\r\nContent-Type: " + type +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" +
         body;
}

std::string ScriptedServer::of_type(const std::string& type, const std::string& body) {
  return "HTTP/1.1 200 OK\r\nContent-Type: " + type + "\r\nConnection: close\r\n\r\n" + body;
}

}  // namespace sandgate::cli
