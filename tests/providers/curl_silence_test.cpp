#include <gtest/gtest.h>

#include "gateway/core/async.hpp"
#include "providers/transport/curl_client.hpp"
#include "tests/providers/scripted_server.hpp"
#include "tests/support/code_of.hpp"
#include "tests/support/run.hpp"

// The limit of a stream's silence.
namespace sandgate::test {
namespace {

using asio::ip::tcp;

HttpCall limited_to(std::chrono::seconds silence, std::string url) {
  HttpCall call;
  call.url = std::move(url);
  call.allow_private = true;
  call.silence = silence;
  return call;
}

// More than any buffer holds.
Task<void> send_64_mib(tcp::socket& socket) {
  co_await ScriptedServer::head(socket);
  co_await ScriptedServer::say(socket, "HTTP/1.1 200 OK\r\n\r\n");
  const std::string piece(1 << 20, 'x');
  for (int i = 0; i < 64; ++i) co_await ScriptedServer::say(socket, piece);
}

// Whoever reads slowly makes the server wait, which is then as silent as one that is dead.
TEST(CurlSilence, AServerThatWaitsForItsReaderIsNotSilent) {
  ScriptedServer server(send_64_mib);
  CurlClient client;
  auto pull = [&]() -> Task<size_t> {
    auto opening = client.stream(limited_to(std::chrono::seconds(1), server.url()));
    const auto stream = co_await std::move(opening);
    std::vector<char> piece(300'000);
    size_t total = 0;
    for (int reads = 0;; ++reads) {
      if (reads == 4 || reads == 8) co_await sleep_for(std::chrono::seconds(4));
      const size_t count = co_await stream->read(piece);
      if (count == 0) co_return total;
      total += count;
    }
  };
  EXPECT_EQ(run(pull()), size_t{64} << 20);
}

// A gateway tells with three bytes now and then that it is alive.
TEST(CurlSilence, OneByteIsASignOfLife) {
  ScriptedServer server([](tcp::socket& socket) -> Task<void> {
    co_await ScriptedServer::head(socket);
    co_await ScriptedServer::say(socket, "HTTP/1.1 200 OK\r\n\r\n");
    for (int i = 0; i < 7; ++i) {
      co_await sleep_for(std::chrono::milliseconds(1500));
      co_await ScriptedServer::say(socket, ":");
    }
  });
  CurlClient client;
  auto pull = [&]() -> Task<std::string> {
    auto opening = client.stream(limited_to(std::chrono::seconds(3), server.url()));
    const auto stream = co_await std::move(opening);
    std::string all, piece(100, '\0');
    while (const size_t count = co_await stream->read(piece)) all.append(piece, 0, count);
    co_return all;
  };
  EXPECT_EQ(run(pull()), ":::::::");
}

TEST(CurlSilence, AServerThatSaysNothingMoreIsSilent) {
  ScriptedServer server([](tcp::socket& socket) -> Task<void> {
    co_await ScriptedServer::head(socket);
    co_await ScriptedServer::say(socket, "HTTP/1.1 200 OK\r\n\r\nbegun");
    co_await sleep_for(std::chrono::hours(1));
  });
  CurlClient client;
  auto pull = [&]() -> Task<void> {
    auto opening = client.stream(limited_to(std::chrono::seconds(1), server.url()));
    const auto stream = co_await std::move(opening);
    std::vector<char> piece(100);
    while (co_await stream->read(piece) > 0) continue;
  };
  EXPECT_EQ(code_of(pull()), ErrorCode::timeout);
}

}  // namespace
}  // namespace sandgate::test
