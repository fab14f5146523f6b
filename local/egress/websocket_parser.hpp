#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "local/egress/response_span.hpp"

namespace sandgate::egress {

// Incremental parser that splits what a WebSocket's server sends (RFC 6455) into the content of its
// messages, that of control frames (pings, pongs and closes, which may lie between the parts of a
// message) and framing. Masked frames, reserved bits, such as that of a compressed message,
// reserved opcodes, and control frames that are long or not final are not understood.
class WebSocketParser {
 public:
  // As ResponseParser::next().
  ResponseSpan next(std::string_view bytes);

 private:
  ResponseSpan read_head(char next);
  bool is_wrong() const;
  bool is_control() const;
  bool is_final() const;

  std::string head_;  // of the current frame
  uint64_t left_ = 0;  // bytes of its payload still to come
};

}  // namespace sandgate::egress
