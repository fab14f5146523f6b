#pragma once
#include <memory>
#include <optional>
#include <string>

#include "providers/transport/http_client.hpp"

namespace sandgate {

struct WebSocketCall {
  std::string url;  // http, https, ws or wss
  HttpFields headers;
  std::chrono::milliseconds deadline{15000};  // until the connection is open
  // A read fails if nothing comes for that long, not even the answer to a ping.
  std::chrono::milliseconds silence{60000};
  size_t max_message = 4 << 20;  // a larger message ends the connection
  bool allow_private = false;  // as in HttpCall
  std::shared_ptr<const TlsIdentity> tls;  // as in HttpCall
  std::string protocols;  // offered subprotocols, "a, b"; empty: none
  // Turns a refused upgrade into an Error; null: by status.
  Error (*read_error)(std::string_view provider, const HttpReply& reply) = nullptr;
};

// A client's WebSocket connection. One coroutine may read while another writes. Dropping it ends
// the connection. A caller that does not read for any time keeps its connection.
class WebSocket {
 public:
  struct Message {
    bool text = false;
    std::string bytes;
  };
  virtual ~WebSocket() = default;
  // Returns empty if the upstream closed the connection; throws Error(unavailable) if it broke.
  virtual Task<std::optional<Message>> read() = 0;
  virtual Task<void> write(Message message) = 0;
  // The subprotocol that the upstream chose, or empty.
  virtual const std::string& protocol() const = 0;
  // Performs the closing handshake, after which all written messages were received; messages that
  // still arrive are dropped. No read or write may be in progress.
  virtual Task<void> close() = 0;
};

// Throws Error as HttpClient does, and the Error of a refused upgrade.
Task<std::unique_ptr<WebSocket>> open_web_socket(std::string provider, WebSocketCall call);

}  // namespace sandgate
