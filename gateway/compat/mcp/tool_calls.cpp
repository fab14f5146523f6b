#include "gateway/compat/mcp/tool_calls.hpp"

#include "gateway/http/problem.hpp"

namespace sandgate::compat::mcp {
namespace {

class GivenBytes : public ByteSource {
 public:
  explicit GivenBytes(std::string_view bytes) : left_(bytes) {}
  Task<size_t> read(std::span<char> into) override {
    const size_t count = left_.copy(into.data(), into.size());
    left_.remove_prefix(count);
    co_return count;
  }

 private:
  std::string_view left_;
};

// Collects the first bytes of a file and aborts the rest.
class FirstBytes : public http::BodySink {
 public:
  struct Full {};
  explicit FirstBytes(Answer& answer) : answer_(answer) {}
  Task<void> write(std::span<const char> bytes) override {
    const size_t count = std::min(bytes.size(), kFileBytes - answer_.bytes.size());
    answer_.bytes.append(bytes.data(), count);
    answer_.cut = count < bytes.size();
    if (answer_.cut) throw Full{};
    co_return;
  }

 private:
  Answer& answer_;
};

Task<void> take_bytes(const http::StreamBody& body, Answer& answer) {
  FirstBytes sink(answer);
  try {
    co_await body.produce(sink);
  } catch (const FirstBytes::Full&) {
  }
}

Json entry_of(const http::Response& response) {
  for (const auto& [name, value] : response.headers)
    if (name == "X-Sandgate-Entry") return Json::parse(value);
  return Json::object();
}

// The Error of a refusal that a handler returned as an answer.
Error refusal_of(const Json& problem) {
  const auto code = error_code_from(problem.value("code", ""));
  return Error(code.value_or(ErrorCode::internal), problem.value("detail", "the call failed"));
}

http::Request request_for(const ToolCall& call, const Plan& plan, const std::string& box) {
  http::Request request = call.origin;
  request.method = plan.method;
  request.target = (box.empty() ? "" : "/v1/sandboxes/" + box) + plan.path;
  request.path = request.target;
  for (const auto& [name, value] : plan.query) request.query.add(name, value);
  if (!plan.body.is_null()) request.body = plan.body.dump();
  // One extra byte shows whether there is more.
  if (plan.offset > 0)
    request.headers.add("Range", "bytes=" + std::to_string(plan.offset) + "-" +
                                     std::to_string(plan.offset + kFileBytes));
  if (plan.repeatable && !call.idempotency_key.empty())
    request.headers.add("Idempotency-Key", call.idempotency_key);
  return request;
}

}  // namespace

http::Request origin_of(const http::Request& request) {
  http::Request origin;
  origin.id = request.id;
  origin.trace = request.trace;
  origin.received = request.received;
  origin.remote_address = request.remote_address;
  origin.caller = request.caller;
  // What the links to ports are made of.
  for (const char* name :
       {"Host", "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"})
    if (const auto value = request.headers.find(name))
      origin.headers.add(name, std::string(*value));
  return origin;
}

const std::string& ToolCalls::profile() const {
  if (profile_.empty())
    throw Error(ErrorCode::invalid,
                "no profile is set for sandboxes of sessions (mcp.profile): make a sandbox with "
                "sandbox_create and a profile, and give its sandbox_id");
  return profile_;
}

Task<ToolCalls::Box> ToolCalls::box_for(std::shared_ptr<const ToolCall> call, const Plan& plan) {
  if (plan.where == Target::nowhere) co_return Box{};
  if (!plan.sandbox.empty()) co_return Box{plan.sandbox};
  const bool if_there = plan.where == Target::own_if_there;
  if (call->session.runs || (if_there && !call->session.sandbox.empty()))
    co_return Box{call->session.sandbox};
  if (if_there) throw Error(ErrorCode::not_found, "this session has no sandbox of its own now");
  http::Request request = call->origin;
  request.method = http::Method::post;
  request.target = request.path = "/v1/sandboxes";
  request.session = call->session.id.value;
  request.body = Json{{"profile", profile()}}.dump();
  auto asking = ask_(request);
  const http::Response response = co_await std::move(asking);
  const Json made = Json::parse(std::get<std::string>(response.body));
  co_return Box{made.at("id").get<std::string>(), response.status == 201};
}

Task<void> ToolCalls::extend(std::shared_ptr<const ToolCall> call) {
  http::Request request = call->origin;
  request.method = http::Method::post;
  request.target = request.path = "/v1/sandboxes/" + call->session.sandbox + "/extend";
  request.body = Json{{"ttl_seconds", call->session.extend_to}}.dump();
  auto asking = ask_(request);
  co_await attempt(std::move(asking));
}

Task<Answer> ToolCalls::ask(std::shared_ptr<const ToolCall> call, const Plan& plan,
                            std::string box) {
  http::Request request = request_for(*call, plan, box);
  GivenBytes bytes(plan.bytes ? std::string_view(*plan.bytes) : std::string_view());
  if (plan.bytes) request.stream = &bytes;
  auto asking = ask_(request);
  const http::Response response = co_await std::move(asking);
  Answer answer{.status = response.status, .entry = entry_of(response)};
  if (const auto* stream = std::get_if<http::StreamBody>(&response.body)) {
    co_await take_bytes(*stream, answer);
    co_return answer;
  }
  // Reading at the end of a file yields nothing rather than an error.
  if (response.status == 416 && answer.entry.value("size", Json()) == plan.offset) co_return answer;
  const auto& text = std::get<std::string>(response.body);
  if (!text.empty()) answer.json = Json::parse(text);
  if (response.status >= 400) throw refusal_of(answer.json);
  co_return answer;
}

Task<Json> ToolCalls::carry_out(std::shared_ptr<const ToolCall> call, Box& box) {
  Plan plan = call->tool->plan(call->arguments);
  if (plan.needs_profile && !plan.body.contains("profile")) plan.body["profile"] = profile();
  box = co_await box_for(call, plan);
  const bool is_used = plan.where == Target::own && box.id == call->session.sandbox;
  if (is_used && call->session.extend_to > 0) co_await extend(call);
  const Answer answer = co_await ask(call, plan, box.id);
  Json shown = call->tool->show(answer, plan);
  if (!box.id.empty()) shown["sandbox_id"] = box.id;
  if (box.made) shown["new_sandbox"] = true;
  co_return tool_result(shown);
}

Task<Json> ToolCalls::run(std::shared_ptr<const ToolCall> call) {
  Box box;
  auto working = carry_out(call, box);
  auto outcome = co_await attempt(std::move(working));
  if (auto* done = std::get_if<Json>(&outcome)) co_return std::move(*done);
  Error error = std::get<Error>(std::move(outcome));
  // Later calls do not say that the sandbox before and what was in it are gone.
  if (box.made) error.details.update({{"sandbox_id", box.id}, {"new_sandbox", true}});
  co_return failed_result(
      http::problem_document(error, http::status_of(error.code), call->origin.id));
}

}  // namespace sandgate::compat::mcp
