#include "gateway/cli/terminal_session.hpp"

#include <unistd.h>

#include <array>
#include <csignal>
#include <deque>

#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <boost/url.hpp>

#include "gateway/cli/console.hpp"
#include "gateway/cli/raw_terminal.hpp"
#include "gateway/core/async.hpp"

namespace sandgate::cli {
namespace {

namespace beast = boost::beast;
namespace websocket = beast::websocket;
using Tcp = asio::ip::tcp;

constexpr size_t kInputBytes = 4096;
constexpr char kStdinChannel = 0;

struct Outgoing {
  bool text = false;
  std::string bytes;
};

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno != EINTR) return;
    if (put > 0) bytes.remove_prefix(static_cast<size_t>(put));
  }
}

// Everything on one thread: a reader of the socket, a reader of the keyboard, a watcher of the
// window, and one writer that the last two feed.
template <class Stream>
class Session {
 public:
  Session(asio::io_context& io, websocket::stream<Stream>& socket)
      : io_(io), socket_(socket), input_(io, ::dup(STDIN_FILENO)), resized_(io, SIGWINCH) {}

  int run() {
    spawn([this] { return receive(); });
    spawn([this] { return read_keys(); });
    spawn([this] { return watch_window(); });
    io_.run();
    if (failure_) std::rethrow_exception(failure_);
    if (!exit_code_)
      throw Error(ErrorCode::unavailable, "the connection ended before the program did");
    return *exit_code_;
  }

 private:
  template <class F>
  void spawn(F work) {
    asio::co_spawn(io_, work, [this](std::exception_ptr failure) {
      if (!failure) return;
      if (!exit_code_ && !failure_) failure_ = failure;
      io_.stop();
    });
  }

  Task<void> receive() {
    for (;;) {
      beast::flat_buffer buffer;
      const auto [error, size] =
          co_await socket_.async_read(buffer, asio::as_tuple(asio::use_awaitable));
      if (error) break;
      const std::string_view bytes(static_cast<const char*>(buffer.data().data()), size);
      if (socket_.got_text()) {
        if (control(bytes)) break;
      } else if (!bytes.empty()) {
        write_all(bytes[0] == 2 ? STDERR_FILENO : STDOUT_FILENO, bytes.substr(1));
      }
    }
    io_.stop();
  }

  // Whether the program ended.
  bool control(std::string_view text) {
    const Json message = parse_json(text);
    const std::string type = message.value("type", "");
    if (type == "error")
      throw Error(ErrorCode::unavailable,
                  printable(message.value("detail", "the terminal failed")));
    if (type != "exit") return false;
    exit_code_ = message.value("exit_code", 1);
    return true;
  }

  Task<void> read_keys() {
    std::array<char, kInputBytes> keys;
    for (;;) {
      const auto [error, size] =
          co_await input_.async_read_some(asio::buffer(keys), asio::as_tuple(asio::use_awaitable));
      if (error) break;
      std::string frame(1, kStdinChannel);
      frame.append(keys.data(), size);
      co_await send(false, std::move(frame));
    }
    std::string message = R"({"type":"close_stdin"})";
    co_await send(true, std::move(message));
  }

  Task<void> watch_window() {
    for (;;) {
      co_await resized_.async_wait(asio::use_awaitable);
      const WindowSize size = window_size();
      const Json message{{"type", "resize"}, {"cols", size.cols}, {"rows", size.rows}};
      co_await send(true, message.dump());
    }
  }

  // One write at a time: whoever finds the queue busy leaves its frame to the one who writes.
  Task<void> send(bool text, std::string bytes) {
    queue_.push_back(Outgoing{text, std::move(bytes)});
    if (writing_) co_return;
    writing_ = true;
    while (!queue_.empty()) {
      const Outgoing next = std::move(queue_.front());
      queue_.pop_front();
      socket_.text(next.text);
      co_await socket_.async_write(asio::buffer(next.bytes), asio::use_awaitable);
    }
    writing_ = false;
  }

  asio::io_context& io_;
  websocket::stream<Stream>& socket_;
  asio::posix::stream_descriptor input_;
  asio::signal_set resized_;
  std::deque<Outgoing> queue_;
  bool writing_ = false;
  std::optional<int> exit_code_;
  std::exception_ptr failure_;
};

template <class Stream>
void handshake(websocket::stream<Stream>& socket, const Client& client, const std::string& host,
               const std::string& path) {
  socket.set_option(websocket::stream_base::decorator([&](websocket::request_type& request) {
    request.set(beast::http::field::authorization, "Bearer " + client.key().reveal());
    if (!client.tenant().empty()) request.set("X-Sandgate-Tenant", client.tenant());
  }));
  socket.binary(true);
  socket.handshake(host, path);
}

int run_plain(const Client& client, const boost::urls::url_view& url, const std::string& path) {
  asio::io_context io;
  websocket::stream<Tcp::socket> socket(io);
  const std::string port = url.has_port() ? std::string(url.port()) : "80";
  asio::connect(socket.next_layer(), Tcp::resolver(io).resolve(url.host_address(), port));
  handshake(socket, client, std::string(url.encoded_host_and_port()), path);
  const RawTerminal raw;
  return Session(io, socket).run();
}

int run_secure(const Client& client, const boost::urls::url_view& url, const std::string& path) {
  asio::io_context io;
  asio::ssl::context tls(asio::ssl::context::tls_client);
  tls.set_default_verify_paths();
  websocket::stream<asio::ssl::stream<Tcp::socket>> socket(io, tls);
  const std::string host = url.host_address();
  auto& secure = socket.next_layer();
  secure.set_verify_mode(asio::ssl::verify_peer);
  secure.set_verify_callback(asio::ssl::host_name_verification(host));
  SSL_set_tlsext_host_name(secure.native_handle(), host.c_str());
  const std::string port = url.has_port() ? std::string(url.port()) : "443";
  asio::connect(secure.next_layer(), Tcp::resolver(io).resolve(host, port));
  secure.handshake(asio::ssl::stream_base::client);
  handshake(socket, client, std::string(url.encoded_host_and_port()), path);
  const RawTerminal raw;
  return Session(io, socket).run();
}

}  // namespace

int run_terminal(const Client& client, const std::string& path) {
  const auto url = boost::urls::parse_uri(client.url());
  if (!url) throw Error(ErrorCode::invalid, "'" + client.url() + "' is not a URL");
  // The base URL may end in a path of its own, behind a reverse proxy.
  const std::string target = std::string(url->encoded_path()) + path;
  try {
    return url->scheme() == "https" ? run_secure(client, *url, target)
                                    : run_plain(client, *url, target);
  } catch (const boost::system::system_error& failure) {
    throw Error(ErrorCode::unavailable,
                "no terminal from " + client.url() + ": " + failure.code().message());
  }
}

}  // namespace sandgate::cli
