#include "tests/http/live_server.hpp"

#include <poll.h>

#include <thread>

namespace sandgate::test {
namespace {

http::ServerOptions on_free_port(http::ServerOptions options) {
  options.port = 0;
  return options;
}

}  // namespace

Task<http::Caller> WordAuthenticator::authenticate(const http::Request& request) {
  const std::string_view value = request.headers.find("Authorization").value_or("");
  const std::pair<std::string_view, http::Role> roles[] = {
      {"owner", http::Role::owner},         {"admin", http::Role::admin},
      {"developer", http::Role::developer}, {"billing", http::Role::billing},
      {"viewer", http::Role::viewer},       {"operator", http::Role::operator_}};
  for (const auto& [word, role] : roles)
    if (value == "Bearer " + std::string(word)) {
      http::Caller caller;
      caller.role = role;
      if (role != http::Role::operator_) caller.tenant = kTenant;
      co_return caller;
    }
  if (value == "Bearer stranger") throw Error::not_found("tenant", "");
  throw Error(ErrorCode::unauthenticated, "send a key");
}

LiveServer::LiveServer(http::Routes table, http::ServerOptions options, http::Admission* admission,
                       http::IdempotencyStore* idempotency)
    : routes(std::move(table)),
      metrics(routes),
      dispatcher(routes, {authenticator, admission, idempotency, &metrics}),
      io(2),
      server(io, dispatcher, on_free_port(std::move(options))) {
  io.start();
  server.start();
}

LiveServer::~LiveServer() {
  server.stop();
  io.stop();
}

RawClient::RawClient(uint16_t port) : socket_(loop_) {
  socket_.connect({asio::ip::address_v4::loopback(), port});
  socket_.set_option(asio::ip::tcp::no_delay(true));
}

void RawClient::send(std::string_view bytes) { asio::write(socket_, asio::buffer(bytes)); }

void RawClient::fill() {
  pollfd readable{socket_.native_handle(), POLLIN, 0};
  if (poll(&readable, 1, 20'000) != 1) throw std::runtime_error("no answer in 20 s");
  char bytes[65536];
  boost::system::error_code failure;
  const size_t count = socket_.read_some(asio::buffer(bytes), failure);
  if (failure) throw std::runtime_error("connection ended: " + failure.message());
  buffer_.append(bytes, count);
}

std::string RawClient::take(size_t bytes) {
  while (buffer_.size() < bytes) fill();
  std::string taken = buffer_.substr(0, bytes);
  buffer_.erase(0, bytes);
  return taken;
}

std::string RawClient::take_line() {
  while (buffer_.find("\r\n") == std::string::npos) fill();
  std::string line = take(buffer_.find("\r\n"));
  take(2);
  return line;
}

Reply RawClient::receive(bool head) {
  Reply reply;
  reply.status = std::stoi(take_line().substr(9, 3));
  for (std::string line = take_line(); !line.empty(); line = take_line()) {
    const size_t colon = line.find(": ");
    reply.headers.add(line.substr(0, colon), line.substr(colon + 2));
  }
  if (head || reply.status == 204 || reply.status == 100) return reply;
  if (const auto length = reply.headers.find("Content-Length")) {
    reply.body = take(std::stoul(std::string(*length)));
  } else if (reply.headers.find("Transfer-Encoding")) {
    for (size_t size = std::stoul(take_line(), nullptr, 16); size > 0;
         size = std::stoul(take_line(), nullptr, 16)) {
      reply.body += take(size);
      take(2);
    }
    take(2);
  }
  return reply;
}

bool RawClient::ended() {
  pollfd readable{socket_.native_handle(), POLLIN, 0};
  if (!buffer_.empty() || poll(&readable, 1, 8000) != 1) return false;
  char byte = 0;
  boost::system::error_code failure;
  return socket_.read_some(asio::buffer(&byte, 1), failure) == 0;
}

void RawClient::reset() {
  socket_.set_option(asio::socket_base::linger(true, 0));
  socket_.close();
}

std::string get(std::string_view path, std::string_view more) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer operator\r\n" +
         std::string(more) + "\r\n";
}

std::string post(std::string_view path, std::string_view body, std::string_view more) {
  return "POST " + std::string(path) + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin\r\n" +
         "Content-Length: " + std::to_string(body.size()) + "\r\n" + std::string(more) + "\r\n" +
         std::string(body);
}

http::Handler says(std::string text) {
  return [text](http::Request&) -> Task<http::Response> {
    co_return http::Response::json(200, Json{{"says", text}});
  };
}

}  // namespace sandgate::test
