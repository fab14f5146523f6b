#pragma once
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gateway/core/json_reader.hpp"
#include "gateway/http/client_side.hpp"
#include "gateway/http/stream_body.hpp"
#include "gateway/http/websocket.hpp"

namespace sandgate::http {

// The answer of a handler.
struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
  // UpgradeBody is valid only if the request asks for a WebSocket. With RelayBody all other members
  // are ignored.
  std::variant<std::string, StreamBody, UpgradeBody, RelayBody> body;
  std::optional<ErrorCode> code;  // of a problem document, for the log
  bool is_expected = false;  // a failure that is no news: not logged as a warning

  static Response json(int status, const Json& value);
  static Response empty(int status);  // no body, no content type
  // For a body that is sent as it comes: caches keep nothing of it, and proxies hold nothing back.
  static Response streaming(std::string content_type);
};

}  // namespace sandgate::http
