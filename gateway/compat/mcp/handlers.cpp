#include "gateway/compat/mcp/handlers.hpp"

#include "gateway/compat/mcp/protocol.hpp"
#include "gateway/core/json_text.hpp"
#include "gateway/core/settle.hpp"
#include "gateway/http/event_stream.hpp"

namespace sandgate::compat::mcp {
namespace {

// A file of 6 MiB as base64, plus the rest of the message.
constexpr size_t kMaxBodyBytes = (8 << 20) + (64 << 10);
constexpr std::chrono::seconds kProgressEvery{5};

http::Response refused(const Json& id, RpcCode code, const std::string& why) {
  return http::Response::json(200, error_of(id, code, why));
}

Json tool_list() {
  Json list = Json::array();
  for (const Tool& tool : tools()) list.push_back(to_json(tool));
  return {{"tools", std::move(list)}};
}

// The answer to a call that its client cancelled: an event stream without events, because nothing
// may be sent for it, and clients take nothing but JSON and event streams.
http::Response nothing() {
  http::Response response;
  response.content_type = "text/event-stream";
  return response;
}

// Returns the token for progress notifications; null if none are requested.
Json progress_token(const Json& params) {
  const auto meta = params.find("_meta");
  if (meta == params.end() || !meta->is_object()) return nullptr;
  const Json token = meta->value("progressToken", Json());
  return token.is_string() || token.is_number_integer() ? token : Json();
}

Task<void> send_message(http::EventWriter& writer, const Json& message) {
  http::ServerEvent event{"message", json_text(message), ""};
  co_await writer.send(std::move(event));
}

// Reports elapsed seconds, which resets the timeout of clients that wait for progress.
Task<void> send_progress(http::EventWriter& writer, Json token) {
  for (int64_t seconds = kProgressEvery.count();; seconds += kProgressEvery.count()) {
    co_await sleep_for(kProgressEvery);
    const Json params{{"progressToken", token}, {"progress", seconds}, {"message", "at work"}};
    const Json message{
        {"jsonrpc", "2.0"}, {"method", "notifications/progress"}, {"params", params}};
    co_await send_message(writer, message);
  }
}

}  // namespace

void Handlers::add_routes(http::Routes& routes) {
  routes.add({.method = http::Method::post,
              .pattern = "/mcp",
              .permission = http::Permission::read_sandboxes,
              .body = http::BodyMode::buffered,
              .handler = [this](http::Request& r) { return post(r); },
              .max_body_bytes = kMaxBodyBytes});
  routes.add({.method = http::Method::delete_,
              .pattern = "/mcp",
              .permission = http::Permission::read_sandboxes,
              .handler = [this](http::Request& r) { return remove(r); }});
}

Task<http::Response> Handlers::post(http::Request& request) {
  check_origin(request.headers, settings_.origins);
  check_version(request.headers);
  Received received = receive(request.body);
  if (!received.refusal.is_null()) co_return http::Response::json(400, received.refusal);
  Message& message = received.message;
  if (message.is_request() && message.method == "initialize")
    co_return co_await initialize(request, message);
  Session session = co_await sessions_.find(request);
  if (!message.is_request()) {
    co_await take_notification(session, message);
    co_return http::Response::empty(202);
  }
  if (message.method == "tools/call") co_return co_await call_tool(request, session, message);
  if (message.method == "tools/list")
    co_return http::Response::json(200, result_of(message.id, tool_list()));
  if (message.method == "ping")
    co_return http::Response::json(200, result_of(message.id, Json::object()));
  co_return refused(message.id, RpcCode::method_not_found, "this server has only tools");
}

Task<http::Response> Handlers::initialize(http::Request& request, const Message& message) {
  const Json asked = message.params.value("protocolVersion", Json());
  if (!asked.is_string())
    co_return refused(message.id, RpcCode::invalid_params, "protocolVersion must be a string");
  const SessionId id = co_await sessions_.open(request);
  const std::string_view version = negotiated_version(asked.get_ref<const std::string&>());
  Json result = initialize_result(version, settings_.version, !settings_.profile.empty());
  http::Response response = http::Response::json(200, result_of(message.id, std::move(result)));
  response.headers.emplace_back("Mcp-Session-Id", id.value);
  co_return response;
}

Task<http::Response> Handlers::call_tool(http::Request& request, Session& session,
                                         Message& message) {
  const Json name = message.params.value("name", Json());
  const Tool* tool = name.is_string() ? find_tool(name.get_ref<const std::string&>()) : nullptr;
  if (!tool) co_return refused(message.id, RpcCode::invalid_params, "there is no such tool");
  Json arguments = std::move(message.params["arguments"]);
  if (arguments.is_null()) arguments = Json::object();
  if (!arguments.is_object())
    co_return refused(message.id, RpcCode::invalid_params, "arguments are an object");
  auto call = std::make_shared<const ToolCall>(
      ToolCall{.origin = origin_of(request),
               .idempotency_key = std::string(request.headers.find("Idempotency-Key").value_or("")),
               .session = std::move(session),
               .tool = tool,
               .arguments = std::move(arguments)});
  const Json token = progress_token(message.params);
  if (token.is_null()) {
    auto running = running_.run(call->session.id, message.id, calls_.run(call));
    auto result = co_await std::move(running);
    if (!result) co_return nothing();
    co_return http::Response::json(200, result_of(message.id, std::move(*result)));
  }
  auto produce = [this, call, token, id = message.id](http::EventWriter& writer) -> Task<void> {
    auto working = with_companion(calls_.run(call), send_progress(writer, token));
    auto running = running_.run(call->session.id, id, std::move(working));
    auto result = co_await std::move(running);
    if (!result) co_return;
    const Json answer = result_of(id, std::move(*result));
    co_await send_message(writer, answer);
  };
  co_return http::event_stream({.request_id = request.id}, std::move(produce));
}

Task<void> Handlers::take_notification(const Session& session, const Message& message) {
  if (message.method != "notifications/cancelled") co_return;
  const Json id = message.params.value("requestId", Json());
  if (!is_id(id)) co_return;
  auto cancelling = running_.cancel(session.id, id);
  co_await std::move(cancelling);
}

Task<http::Response> Handlers::remove(http::Request& request) {
  check_origin(request.headers, settings_.origins);
  check_version(request.headers);
  const SessionId session = co_await sessions_.end(request);
  // Nobody waits for what is still under way.
  co_await running_.cancel_all(session);
  co_await sessions_.end_sandbox(session);
  co_return http::Response::empty(204);
}

}  // namespace sandgate::compat::mcp
