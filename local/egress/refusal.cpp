#include "local/egress/refusal.hpp"

#include <sys/socket.h>

#include <algorithm>

#include "gateway/core/json_text.hpp"

namespace sandgate::egress {
namespace {

// Of a client: without a word, and in all.
constexpr std::chrono::seconds kDropTimeout{5}, kLongestDrop{30};
constexpr std::chrono::milliseconds kFirstPause{1}, kLongestPause{64};
constexpr size_t kMaxDiscarded = 16 << 20;

// Returns false at the end. With MSG_TRUNC, TCP copies nothing.
bool discard(Socket& from) {
  const ssize_t got = recv(from.native_handle(), nullptr, kMaxDiscarded, MSG_TRUNC | MSG_DONTWAIT);
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

}  // namespace

Task<void> write_refusal(Stream& to, int status, std::string target, std::string_view reason) {
  const Json document{{"error", "egress_refused"}, {"reason", reason}, {"target", target}};
  const std::string body = json_text(document) + "\n";
  const char* phrase = status == 403 ? "Forbidden" : status == 400 ? "Bad Request" : "Bad Gateway";
  const std::string text =
      "HTTP/1.1 " + std::to_string(status) + " " + phrase +
      "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
      "\r\nConnection: close\r\n\r\n" + body;
  auto writing = to.write(text);
  const bool ok = co_await std::move(writing);
  if (ok) co_await to.finish();
}

// A close while there are unread bytes is a reset, by which the client may lose the answer. Clients
// that send without end are read the more seldom, since that keeps the loop from others.
Task<void> drop_rest(std::shared_ptr<Connection> connection) {
  boost::system::error_code failure;
  connection->client.shutdown(Socket::shutdown_send, failure);
  const auto until = std::chrono::steady_clock::now() + kLongestDrop;
  auto pause = kFirstPause;
  while (!failure && std::chrono::steady_clock::now() < until) {
    connection->set_idle_timeout(kDropTimeout);
    auto [error] = co_await connection->client.async_wait(Socket::wait_read,
                                                          asio::as_tuple(asio::use_awaitable));
    if (error || !discard(connection->client)) co_return;
    co_await sleep_for(pause);
    pause = std::min(pause * 2, kLongestPause);
  }
}

Task<void> refuse(std::shared_ptr<Connection> connection, Stream& client, int status,
                  std::string target, std::string_view reason) {
  auto writing = write_refusal(client, status, std::move(target), reason);
  co_await std::move(writing);
  auto dropping = drop_rest(std::move(connection));
  co_await std::move(dropping);
}

}  // namespace sandgate::egress
