#include <gtest/gtest.h>

#include <unistd.h>

#include <boost/asio/ssl.hpp>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "gateway/cli/client.hpp"
#include "gateway/core/error.hpp"

namespace sandgate::cli {
namespace {

namespace asio = boost::asio;
namespace ssl = asio::ssl;
using Tcp = asio::ip::tcp;

// Answers one connection with an empty document, under a certificate that no authority signed.
class PrivateServer {
 public:
  explicit PrivateServer(const std::string& name = "IP:127.0.0.1") {
    std::filesystem::create_directories(directory_);
    const std::string command =
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 "
        "-subj /CN=127.0.0.1 -addext subjectAltName=" +
        name + " -keyout " + directory_ + "/key.pem -out " + certificate() + " >/dev/null 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0);
    context_.use_certificate_chain_file(certificate());
    context_.use_private_key_file(directory_ + "/key.pem", ssl::context::pem);
    thread_ = std::thread([this] { serve(); });
  }
  ~PrivateServer() {
    thread_.join();
    std::filesystem::remove_all(directory_);
  }

  std::string certificate() const { return directory_ + "/certificate.pem"; }
  std::string url() const {
    return "https://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
  }

 private:
  void serve() {
    ssl::stream<Tcp::socket> stream(acceptor_.accept(), context_);
    boost::system::error_code failure;
    stream.handshake(ssl::stream_base::server, failure);
    std::string request;
    if (!failure) asio::read_until(stream, asio::dynamic_buffer(request), "\r\n\r\n", failure);
    const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
    if (!failure) asio::write(stream, asio::buffer(answer), failure);
    stream.shutdown(failure);
  }

  const std::string directory_ =
      testing::TempDir() + "private-server-" + std::to_string(::getpid());
  asio::io_context io_;
  ssl::context context_{ssl::context::tls_server};
  Tcp::acceptor acceptor_{io_, {asio::ip::address_v4::loopback(), 0}};
  std::thread thread_;
};

// Answers one connection in plain text, whatever it says.
class PlainServer {
 public:
  PlainServer() : thread_([this] { serve(); }) {}
  ~PlainServer() { thread_.join(); }
  std::string address() const {
    return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
  }

 private:
  void serve() {
    Tcp::socket socket = acceptor_.accept();
    char bytes[4096];
    boost::system::error_code failure;
    socket.read_some(asio::buffer(bytes), failure);
    asio::write(socket, asio::buffer(std::string("HTTP/1.1 400 Bad Request\r\n\r\n")), failure);
  }

  asio::io_context io_;
  Tcp::acceptor acceptor_{io_, {asio::ip::address_v4::loopback(), 0}};
  std::thread thread_;
};

std::string complaint_about(const std::string& url) {
  try {
    Client(url, Secret("sg_test"), "").get("/v1/keys");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(TransferTls, TheOtherSchemeIsNamed) {
  const PlainServer plain;
  EXPECT_TRUE(complaint_about("https://" + plain.address())
                  .ends_with("; if it does not speak TLS, its address begins with http://"));
  PrivateServer server;
  const std::string text = complaint_about("http" + server.url().substr(5));
  EXPECT_TRUE(text.ends_with("; if it speaks TLS, its address begins with https://")) << text;
}

TEST(TransferTls, ANamedAuthorityIsTrusted) {
  PrivateServer server;
  setenv("SSL_CERT_FILE", server.certificate().c_str(), 1);
  EXPECT_EQ(Client(server.url(), Secret("sg_test"), "").get("/v1/keys"), Json::object());
  unsetenv("SSL_CERT_FILE");
}

TEST(TransferTls, ANameThatTheCertificateIsNotForIsNoMatterOfAuthorities) {
  PrivateServer server("DNS:gate.example");
  setenv("SSL_CERT_FILE", server.certificate().c_str(), 1);
  const std::string text = complaint_about(server.url());
  unsetenv("SSL_CERT_FILE");
  EXPECT_TRUE(text.ends_with("use the name that its certificate is for")) << text;
  EXPECT_NE(text.find("'127.0.0.1'"), std::string::npos) << text;
}

TEST(TransferTls, AnUnknownAuthorityIsRefusedAndTheWayOutNamed) {
  PrivateServer server;
  try {
    Client(server.url(), Secret("sg_test"), "").get("/v1/keys");
    FAIL() << "trusted a stranger";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("set SSL_CERT_FILE"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace sandgate::cli
