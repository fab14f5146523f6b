#pragma once
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/ssl.hpp>

#include "gateway/core/async.hpp"
#include "providers/port_connection.hpp"

namespace sandgate::ports {

// A connection to a program in a sandbox, on one loop; one reader and one writer at a time. The
// sandbox may hold the same socket and make it block: no call here relies on its mode.
class AppConnection {
 public:
  static constexpr size_t kBufferBytes = 32 * 1024;

  AppConnection(asio::any_io_executor executor, std::string key, PortConnection connection);
  ~AppConnection();
  AppConnection(const AppConnection&) = delete;
  AppConnection& operator=(const AppConnection&) = delete;

  // Begins TLS where the other side wants it: before anything else. Throws Error(unavailable).
  Task<void> secure(asio::ssl::context& context);

  // Waits for bytes and adds them behind the unread ones; 0 when the program ended or broke the
  // connection. Throws Error(timeout) after give_up(). There must be room.
  Task<size_t> read();
  std::string_view unread() const { return {buffer_.get() + begin_, end_ - begin_}; }
  void consume(size_t bytes) { begin_ += bytes; }
  bool full() const { return begin_ == 0 && end_ == kBufferBytes; }

  // False when the program takes no more; what it still says can be read. Throws as read().
  Task<bool> write(std::span<const asio::const_buffer> buffers);  // at most four
  void end_writing();

  // Ends the read and write in progress.
  void give_up();

  // Whether nobody answered the connect.
  bool refused() const { return refused_; }
  // Not fit for another request: it was ended, or says something unasked.
  bool stale() const;
  const std::string& key() const { return key_; }
  const asio::any_io_executor& executor() const { return executor_; }
  const std::string& path_prefix() const { return path_prefix_; }
  const std::vector<std::pair<std::string, std::string>>& headers() const { return headers_; }

  std::chrono::steady_clock::time_point idle_since{};  // the pool's

 private:
  using Buffers = std::array<asio::const_buffer, 4>;
  using Socket = asio::posix::stream_descriptor;

  Task<void> wait(Socket::wait_type what);
  Task<size_t> read_secure();
  // What the kernel took; -1: nothing now, -2: broken.
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
  bool given_up_ = false, refused_ = false, drained_ = true;
};

}  // namespace sandgate::ports
