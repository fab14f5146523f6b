#include "local/egress/first_bytes.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace sandgate::egress::test {
namespace {

const std::string kRequest = "GET / HTTP/1.1\r\nHost: other.example\r\n\r\n";

enum class Then { waits, closes };

// What a client's first bytes are taken for, of a server that says nothing.
FirstWords words_of(const std::string& bytes, Then then = Then::waits) {
  asio::io_context loop{1};
  asio::ip::tcp::acceptor door(loop, {asio::ip::address_v4::loopback(), 0});
  Socket client(loop), server(loop);
  client.connect(door.local_endpoint());
  Socket accepted = door.accept();
  server.connect(door.local_endpoint());
  Socket upstream = door.accept();
  std::thread sender([&] {
    boost::system::error_code ignored;
    asio::write(client, asio::buffer(bytes), ignored);
    if (then == Then::closes) client.shutdown(Socket::shutdown_send, ignored);
  });
  std::optional<FirstWords> words;
  spawn_detached(loop.get_executor(), [&]() -> Task<void> {
    auto peeking = peek_first_words(accepted, upstream);
    words = co_await std::move(peeking);
    loop.stop();
  });
  loop.run_for(std::chrono::seconds(5));
  accepted.close();
  sender.join();
  EXPECT_TRUE(words) << "it waits for more";
  return words.value_or(FirstWords::other);
}

TEST(FirstWords, AreOfAKnownProtocolOrNot) {
  EXPECT_EQ(words_of(kRequest), FirstWords::http);
  EXPECT_EQ(words_of("\x16\x03\x01"), FirstWords::tls);
  EXPECT_EQ(words_of("ping"), FirstWords::other);
  EXPECT_EQ(words_of("PING", Then::closes), FirstWords::other);
}

TEST(FirstWords, BlankLinesHideNoRequest) {
  for (const size_t lines : {100u, 17'500u}) {
    std::string blank;
    for (size_t i = 0; i < lines; ++i) blank += "\r\n";
    EXPECT_EQ(words_of(blank + kRequest), FirstWords::http) << lines;
    EXPECT_EQ(words_of(std::string(2 * lines, ' ') + kRequest), FirstWords::http) << lines;
  }
}

}  // namespace
}  // namespace sandgate::egress::test
