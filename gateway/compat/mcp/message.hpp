#pragma once
#include <string>
#include <string_view>

#include "gateway/core/json_reader.hpp"

// JSON-RPC 2.0 as MCP uses it: one message per body, no batches. Pure.
namespace sandgate::compat::mcp {

// JSON-RPC's error codes.
enum class RpcCode : int {
  parse_error = -32700,
  invalid_request = -32600,
  method_not_found = -32601,
  invalid_params = -32602,
};

struct Message {
  Json id;  // text of at most 256 bytes, or an integer; null for a notification
  std::string method;  // empty: a response, although this server sends no requests
  Json params = Json::object();

  bool is_request() const { return !id.is_null() && !method.empty(); }
};

// The result of parsing a body.
struct Received {
  Message message;
  Json refusal;  // the answer (400) if the body is not a message; else null
};
Received receive(std::string_view body);

// Whether this can be the id of a request.
bool is_id(const Json& id);

Json result_of(const Json& id, Json result);
Json error_of(const Json& id, RpcCode code, const std::string& message);

}  // namespace sandgate::compat::mcp
