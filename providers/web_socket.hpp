#pragma once
#include <memory>
#include <optional>
#include <string>

#include "providers/http_client.hpp"

namespace sandgate {

struct WebSocketCall {
  std::string url;  // http, https, ws or wss
  HttpFields headers;
  std::chrono::milliseconds deadline{15000};  // until it is open
  size_t max_message = 4 << 20;  // beyond it the connection ends
  bool allow_private = false;  // as in HttpCall
  std::shared_ptr<const TlsIdentity> tls;  // as in HttpCall
  std::string protocols;  // subprotocols that are offered, "a, b"; empty: none
  // Of an upgrade that is refused; null: the status says all.
  Error (*read_error)(std::string_view provider, const HttpReply& reply) = nullptr;
};

// A connection to an upstream's WebSocket. One coroutine may read while another writes; dropping
// it ends the connection. An upstream that answers no ping within a minute is gone.
class WebSocket {
 public:
  struct Message {
    bool text = false;
    std::string bytes;
  };
  virtual ~WebSocket() = default;
  // Empty when the other side closed; throws Error(unavailable) when the connection broke.
  virtual Task<std::optional<Message>> read() = 0;
  virtual Task<void> write(Message message) = 0;
  // The subprotocol that the upstream chose; empty when it chose none.
  virtual const std::string& protocol() const = 0;
  // Ends the connection when the other side has taken what was written; what it still says is
  // dropped. Nobody may be reading or writing.
  virtual Task<void> close() = 0;
};

// Throws Error as HttpClient does, and what the refusal of an upgrade stands for.
Task<std::unique_ptr<WebSocket>> open_web_socket(std::string provider, WebSocketCall call);

}  // namespace sandgate
