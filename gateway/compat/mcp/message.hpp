#pragma once
#include <string>
#include <string_view>

#include "gateway/core/json_reader.hpp"

// JSON-RPC 2.0 as MCP uses it: one message per body, no batches. Pure.
namespace sandgate::compat::mcp {

// The error codes of JSON-RPC.
enum class RpcCode : int {
  parse_error = -32700,
  invalid_request = -32600,
  method_not_found = -32601,
  invalid_params = -32602,
};

struct Message {
  Json id;  // of a request: text of at most 256 bytes, or a whole number; else null
  std::string method;  // empty: an answer to a request, which nobody made
  Json params = Json::object();

  bool is_request() const { return !id.is_null() && !method.empty(); }
};

// A body as it was understood.
struct Received {
  Message message;
  Json refusal;  // what to answer (400) when it is no message; else null
};
Received receive(std::string_view body);

Json result_of(const Json& id, Json result);
Json error_of(const Json& id, RpcCode code, const std::string& message);

}  // namespace sandgate::compat::mcp
