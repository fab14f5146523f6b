#pragma once
#include <chrono>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "local/agent/protocol.hpp"

namespace sandgate {
class Error;
}

namespace sandgate::agent {

// The file worker's end of a connection. All calls block; single-threaded. Throws
// Error(unavailable) when the client is gone.
class FileSession {
 public:
  // `sign_every`: how often show_progress() lets the client know.
  FileSession(int socket, FrameParser parser,
              std::chrono::seconds sign_every = std::chrono::seconds(10))
      : socket_(socket), parser_(std::move(parser)), sign_every_(sign_every) {}

  Frame receive();
  // Returns the client's next streamed bytes, valid until the next call; empty at the end.
  std::string_view receive_bytes();
  // Whether the client has asked, with an empty bytes frame, that files be synced to disk.
  bool space_is_scarce() const { return space_is_scarce_; }

  void reply(const nlohmann::json& document);
  void fail(const Error& error);  // best effort: does not throw when the client is gone
  size_t item(const nlohmann::json& document);  // buffered into list frames; returns its bytes
  void flush_items();  // sends the buffered items
  void bytes(std::string_view bytes);  // any length
  void end();
  // Sends whole frames, including their headers.
  void send_raw(std::span<const char> frames);

  // To be called for each step of work before the first reply that may take long: lets the client
  // know, now and then, that the work goes on. Does not throw. Returns whether it looked at the
  // time.
  bool show_progress();
  // As show_progress(), and looks whether the client is still there. Only for clients that send
  // nothing after their request.
  void check_client();

  int socket() const { return socket_; }

 private:
  int socket_;
  FrameParser parser_;
  std::string items_;
  bool space_is_scarce_ = false;
  unsigned steps_ = 0;
  const std::chrono::seconds sign_every_;
  std::chrono::steady_clock::time_point sign_at_ = std::chrono::steady_clock::now();
};

}  // namespace sandgate::agent
