#include "gateway/http/tls.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/http/live_server.hpp"
#include "tests/support/run.hpp"

namespace sandgate {
namespace {

namespace ssl = boost::asio::ssl;

using test::LiveServer;
using test::TempDirectory;

http::Routes tls_table() {
  http::Routes routes;
  routes.add({http::Method::get, "/hello", http::Permission::open, http::BodyMode::none,
              test::says("hello")});
  return routes;
}

// A server with a certificate, and a client that goes along with any.
struct Tls : testing::Test {
  Tls() { make_certificate("first"); }

  // The server takes it when it is told to reload.
  void make_certificate(const std::string& name) const {
    const std::string command =
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 "
        "-nodes -days 1 -subj /CN=" +
        name + " -keyout " + directory.path() + "/key.pem -out " + directory.path() +
        "/cert.pem >/dev/null 2>&1";
    ASSERT_EQ(std::system(command.c_str()), 0);
  }
  http::ServerOptions options() const {
    http::ServerOptions options;
    options.tls = {directory.path() + "/cert.pem", directory.path() + "/key.pem"};
    return options;
  }

  const TempDirectory directory;
};

// A connection to a port of this machine, past its handshake.
struct TlsClient {
  // `groups`: the only key exchanges that it agrees to.
  explicit TlsClient(uint16_t port, const char* groups = nullptr) {
    if (groups) {
      EXPECT_EQ(SSL_set1_groups_list(stream.native_handle(), groups), 1) << groups;
    }
    stream.next_layer().connect({asio::ip::address_v4::loopback(), port});
    stream.handshake(ssl::stream_base::client);
  }
  asio::io_context loop;
  ssl::context context{ssl::context::tls_client};
  ssl::stream<asio::ip::tcp::socket> stream{loop, context};
};

// Asks once; returns the certificate's subject and leaves the answer in `answer`.
std::string ask(uint16_t port, std::string& answer) {
  TlsClient client(port);
  auto& stream = client.stream;
  const std::string request = "GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  asio::write(stream, asio::buffer(request));
  boost::system::error_code failure;
  asio::read(stream, asio::dynamic_buffer(answer), failure);
  EXPECT_EQ(failure, asio::error::eof);  // a proper close_notify
  X509* certificate = SSL_get_peer_certificate(stream.native_handle());
  char subject[256];
  X509_NAME_oneline(X509_get_subject_name(certificate), subject, sizeof subject);
  X509_free(certificate);
  return subject;
}

TEST_F(Tls, ServesAndReloadsItsCertificate) {
  LiveServer server(tls_table(), options());
  std::string answer;
  EXPECT_EQ(ask(server.port(), answer), "/CN=first");
  EXPECT_TRUE(answer.ends_with("{\"says\":\"hello\"}"));
  make_certificate("second");
  server.server.reload_tls();
  EXPECT_EQ(ask(server.port(), answer), "/CN=second");
  std::ofstream(directory.path() + "/cert.pem") << "broken";
  EXPECT_THROW(server.server.reload_tls(), Error);
  EXPECT_EQ(ask(server.port(), answer), "/CN=second");
}

TEST_F(Tls, AnEarlyAnswerReachesAClientThatGoesOnSending) {
  LiveServer server(tls_table(), options());
  TlsClient client(server.port());
  auto& stream = client.stream;
  const std::string body(20'000'000, 'a');
  boost::system::error_code failure;
  asio::write(stream, asio::buffer("POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: " +
                                   std::to_string(body.size()) + "\r\n\r\n"));
  asio::write(stream, asio::buffer(body), failure);
  EXPECT_FALSE(failure) << failure.message();
  std::string answer;
  asio::read(stream, asio::dynamic_buffer(answer), failure);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 404")) << answer;
}

// One in the largest field takes 0.2 s of a loop's time, and a client needs none for its part.
TEST_F(Tls, AgreesToNoKeyExchangeOverAFiniteField) {
  LiveServer server(tls_table(), options());
  for (const char* groups : {"X25519", "P-256", "ffdhe2048:P-256"})
    EXPECT_NO_THROW(TlsClient(server.port(), groups)) << groups;
  for (const char* groups : {"ffdhe2048", "ffdhe8192"})
    EXPECT_THROW(TlsClient(server.port(), groups), boost::system::system_error) << groups;
}

TEST_F(Tls, EndsConnectionsThatSpeakPlainHttp) {
  LiveServer server(tls_table(), options());
  test::RawClient client(server.port());
  EXPECT_ANY_THROW((void)client.ask(test::get("/hello")));
  EXPECT_TRUE(test::eventually([&] { return server.server.connections() == 0; }));
}

// Whoever starts a server at a terminal must not be asked either: the next start has none.
TEST_F(Tls, TakesNoKeyWithAPassPhrase) {
  const std::string key = directory.path() + "/key.pem";
  ASSERT_EQ(std::system(("openssl ec -aes128 -passout pass:word -in " + key + " -out " + key +
                         ".locked 2>/dev/null")
                            .c_str()),
            0);
  try {
    const http::TlsIdentity identity({directory.path() + "/cert.pem", key + ".locked"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(key + ".locked' has a pass phrase"), std::string::npos)
        << error.what();
  }
}

TEST_F(Tls, KnowsWhenClientsRefuseItsDates) {
  const http::TlsFiles files = *options().tls;
  const Time now = SystemClock().now();
  EXPECT_EQ(http::wrong_dates(files, now), "");
  EXPECT_TRUE(http::wrong_dates(files, now + std::chrono::hours(25)).starts_with("it expired at "));
  EXPECT_TRUE(
      http::wrong_dates(files, now - std::chrono::hours(1)).starts_with("it is not valid before "));
}

TEST_F(Tls, NamesTheFileThatIsWrong) {
  try {
    const http::TlsIdentity identity({"/nonexistent/cert.pem", "/nonexistent/key.pem"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("/nonexistent/cert.pem"), std::string::npos);
  }
}

}  // namespace
}  // namespace sandgate
