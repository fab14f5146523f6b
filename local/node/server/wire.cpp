#include "local/node/server/wire.hpp"

#include <sys/socket.h>

namespace sandgate::wire {
namespace {

constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);

Error broken() { return Error(ErrorCode::unavailable, "the connection to the node broke"); }

}  // namespace

bool is_peer(Stream& stream, uid_t uid) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(stream.native_handle(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         (peer.uid == 0 || peer.uid == uid);
}

bool is_idle(int socket) {
  char byte;
  return recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

Task<std::optional<Json>> receive(Stream& stream) {
  std::array<uint8_t, 4> head;
  auto [head_error, head_bytes] = co_await asio::async_read(stream, asio::buffer(head), kTuple);
  if (head_error == asio::error::eof && head_bytes == 0) co_return std::nullopt;
  if (head_error) throw broken();
  size_t size = head[0] | head[1] << 8 | head[2] << 16 | size_t{head[3]} << 24;
  if (size == 0 || size > kMaxMessage) {
    throw Error(ErrorCode::invalid, "a message of an impossible length");
  }
  std::string text(size, '\0');
  auto [error, bytes] = co_await asio::async_read(stream, asio::buffer(text), kTuple);
  if (error) throw broken();
  Json message = parse_json(text);
  if (!message.is_object()) throw Error(ErrorCode::invalid, "a message must be an object");
  co_return message;
}

Task<void> send(Stream& stream, Json message) {
  std::string text;
  try {
    text = message.dump();
  } catch (const Json::exception&) {
    throw Error(ErrorCode::invalid, "text that is not UTF-8");
  }
  if (text.size() > kMaxMessage) throw Error(ErrorCode::too_large, "the request is too large");
  auto size = static_cast<uint32_t>(text.size());
  std::array<uint8_t, 4> head{uint8_t(size), uint8_t(size >> 8), uint8_t(size >> 16),
                              uint8_t(size >> 24)};
  std::array<asio::const_buffer, 2> parts{asio::buffer(head), asio::buffer(text)};
  auto [error, bytes] = co_await asio::async_write(stream, parts, kTuple);
  if (error) throw broken();
}

Json error_answer(const Json& id, const Error& error) {
  return {{"id", id}, {"error", {{"code", to_string(error.code)}, {"message", error.what()}}}};
}

Error error_from(const Json& answer) {
  const Json& error = answer.at("error");
  auto text = error.value("message", std::string("the node refused"));
  auto code = error_code_from(error.value("code", std::string()));
  return Error(code.value_or(ErrorCode::internal), text);
}

}  // namespace sandgate::wire
