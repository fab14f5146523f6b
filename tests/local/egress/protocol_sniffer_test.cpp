#include "local/egress/protocol_sniffer.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace sandgate::egress::test {
namespace {

const std::string kRequest = "GET / HTTP/1.1\r\nHost: other.example\r\n\r\n";

enum class Then { waits, closes };

// What a client's first bytes are taken for, of a server that says nothing.
SniffedProtocol words_of(const std::string& bytes, Then then = Then::waits) {
  asio::io_context loop{1};
  asio::ip::tcp::acceptor listener(loop, {asio::ip::address_v4::loopback(), 0});
  Socket client(loop), server(loop);
  client.connect(listener.local_endpoint());
  Socket accepted = listener.accept();
  server.connect(listener.local_endpoint());
  Socket upstream = listener.accept();
  std::thread sender([&] {
    boost::system::error_code ignored;
    asio::write(client, asio::buffer(bytes), ignored);
    if (then == Then::closes) client.shutdown(Socket::shutdown_send, ignored);
  });
  std::optional<SniffedProtocol> words;
  spawn_detached(loop.get_executor(), [&]() -> Task<void> {
    auto peeking = sniff_protocol(accepted, upstream);
    words = co_await std::move(peeking);
    loop.stop();
  });
  loop.run_for(std::chrono::seconds(5));
  accepted.close();
  sender.join();
  EXPECT_TRUE(words) << "it waits for more";
  return words.value_or(SniffedProtocol::other);
}

TEST(SniffedProtocol, AreOfAKnownProtocolOrNot) {
  EXPECT_EQ(words_of(kRequest), SniffedProtocol::http);
  EXPECT_EQ(words_of("\x16\x03\x01"), SniffedProtocol::tls);
  EXPECT_EQ(words_of("\x15\x03\x01"), SniffedProtocol::tls);
  EXPECT_EQ(words_of("ping"), SniffedProtocol::other);
  EXPECT_EQ(words_of("PING", Then::closes), SniffedProtocol::other);
}

TEST(SniffedProtocol, BlankLinesHideNoRequest) {
  for (const size_t lines : {100u, 17'500u}) {
    std::string blank;
    for (size_t i = 0; i < lines; ++i) blank += "\r\n";
    EXPECT_EQ(words_of(blank + kRequest), SniffedProtocol::http) << lines;
    EXPECT_EQ(words_of(std::string(2 * lines, ' ') + kRequest), SniffedProtocol::http) << lines;
  }
}

}  // namespace
}  // namespace sandgate::egress::test
