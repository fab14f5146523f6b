#pragma once
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl.hpp>

#include "gateway/core/async.hpp"
#include "providers/port_connection.hpp"

namespace sandgate::ports {

// A connection to a program in a sandbox, bound to one executor; one concurrent reader and writer.
// The sandbox may share the socket and change its mode, so no call relies on non-blocking mode.
class AppConnection {
 public:
  static constexpr size_t kBufferBytes = 32 * 1024;

  AppConnection(asio::any_io_executor executor, std::string key, PortConnection connection);
  ~AppConnection();
  AppConnection(const AppConnection&) = delete;
  AppConnection& operator=(const AppConnection&) = delete;

  // Runs the TLS handshake if the backend requires TLS; call first. Throws Error(unavailable).
  Task<void> secure(asio::ssl::context& context);

  // Appends received bytes to unread(); returns how many, 0 when the program closed or broke the
  // connection. Throws Error(timeout) after cancel(). The buffer must not be full().
  Task<size_t> read();
  std::string_view unread() const { return {buffer_.get() + begin_, end_ - begin_}; }
  void consume(size_t bytes) { begin_ += bytes; }
  bool full() const { return begin_ == 0 && end_ == kBufferBytes; }

  // False when the program accepts no more data; its answer may still be read. Throws as read().
  Task<bool> write(std::span<const asio::const_buffer> buffers);  // at most four
  void end_writing();

  // Cancels the read and write in progress; they throw Error(timeout), and so do later ones.
  void cancel();

  // Whether the last read() found the connection broken, not closed.
  bool broken() const { return broken_; }
  // Whether the connection was refused.
  bool refused() const { return refused_; }
  // Whether it cannot serve another request: it was closed or cancelled, or has sent unrequested
  // data.
  bool stale() const;
  const std::string& key() const { return key_; }
  const asio::any_io_executor& executor() const { return executor_; }
  const std::string& path_prefix() const { return path_prefix_; }
  const std::vector<std::pair<std::string, std::string>>& headers() const { return headers_; }

  std::chrono::steady_clock::time_point idle_since{};  // set by the pool

 private:
  using Buffers = std::array<asio::const_buffer, 4>;
  using Socket = asio::generic::stream_protocol::socket;

  Task<void> wait_to_write();
  // Bytes sent; -1: would block, -2: broken.
  ssize_t send_some(const Buffers& buffers);

  const asio::any_io_executor executor_;
  const std::string key_;
  const std::string path_prefix_;
  const std::vector<std::pair<std::string, std::string>> headers_;
  const std::string tls_host_;
  Socket socket_;
  std::optional<asio::ssl::stream<Socket&>> tls_;
  std::unique_ptr<char[]> buffer_{new char[kBufferBytes]};
  size_t begin_ = 0, end_ = 0;
  bool cancelled_ = false, broken_ = false, refused_ = false;
};

}  // namespace sandgate::ports
