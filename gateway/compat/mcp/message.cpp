#include "gateway/compat/mcp/message.hpp"

#include "gateway/core/bounded_json.hpp"

namespace sandgate::compat::mcp {
namespace {

constexpr size_t kLongestId = 256;
constexpr size_t kLongestMethod = 128;

Received refused(RpcCode code, const std::string& why) {
  return {.refusal = error_of(nullptr, code, why)};
}

Received received(Json document) {
  const auto invalid = [](const char* why) { return refused(RpcCode::invalid_request, why); };
  if (document.is_array()) return invalid("send one message at a time: batches are not taken");
  if (!document.is_object() || document.value("jsonrpc", Json()) != "2.0")
    return invalid("a message is an object with \"jsonrpc\": \"2.0\"");
  Message message;
  if (const auto id = document.find("id"); id != document.end()) {
    if (!is_id(*id)) return invalid("an id is a whole number, or a text of at most 256 bytes");
    message.id = *id;
  }
  const auto method = document.find("method");
  if (method == document.end()) {
    const bool answers = document.contains("result") || document.contains("error");
    return answers ? Received{std::move(message), nullptr} : invalid("the method is missing");
  }
  const size_t length = method->is_string() ? method->get_ref<const std::string&>().size() : 0;
  if (length == 0 || length > kLongestMethod)
    return invalid("a method is a text of 1 to 128 bytes");
  message.method = method->get<std::string>();
  if (const auto params = document.find("params"); params != document.end()) {
    if (!params->is_object()) return invalid("params are an object");
    message.params = std::move(*params);
  }
  return {std::move(message), nullptr};
}

}  // namespace

Received receive(std::string_view body) {
  try {
    return received(parse_bounded_json(body));
  } catch (const Error& error) {
    return refused(RpcCode::parse_error, error.what());
  }
}

bool is_id(const Json& id) {
  if (id.is_string()) return id.get_ref<const std::string&>().size() <= kLongestId;
  return id.is_number_integer();
}

Json result_of(const Json& id, Json result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

Json error_of(const Json& id, RpcCode code, const std::string& message) {
  return {{"jsonrpc", "2.0"},
          {"id", id},
          {"error", {{"code", static_cast<int>(code)}, {"message", message}}}};
}

}  // namespace sandgate::compat::mcp
