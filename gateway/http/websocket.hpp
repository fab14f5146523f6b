#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "gateway/core/async.hpp"

namespace sandgate::http {

struct WebSocketMessage {
  bool text = false;
  std::string bytes;
};

// An accepted WebSocket; one reader and one writer at a time.
class WebSocket {
 public:
  virtual ~WebSocket() = default;
  virtual Task<std::optional<WebSocketMessage>> read() = 0;  // empty: closed
  virtual Task<void> write(WebSocketMessage message) = 0;
  virtual Task<void> close(uint16_t code, std::string reason) = 0;
};

struct UpgradeBody {
  std::function<Task<void>(WebSocket&)> serve;
};

}  // namespace sandgate::http
