#pragma once
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "local/agent/protocol.hpp"

namespace sandgate {
class Error;
}

namespace sandgate::agent {

// A file worker's side of its connection: blocking, one thread. Losing the client throws
// Error(unavailable).
class FileSession {
 public:
  FileSession(int socket, FrameParser parser) : socket_(socket), parser_(std::move(parser)) {}

  Frame receive();
  // The next raw bytes the client streams; empty at its end. Valid until the next call.
  std::string_view receive_bytes();
  bool space_is_scarce() const { return space_is_scarce_; }  // as the client said among them

  void reply(const nlohmann::json& document);
  void fail(const Error& error);  // best effort
  void item(const nlohmann::json& document);  // gathered into list frames
  void flush_items();  // sends those gathered so far
  void bytes(std::string_view bytes);  // any length
  void end();
  // Whole frames, already with their headers.
  void send_raw(std::span<const char> frames);

  int socket() const { return socket_; }

 private:
  int socket_;
  FrameParser parser_;
  std::string items_;
  bool space_is_scarce_ = false;
};

}  // namespace sandgate::agent
