#include "providers/northflank/northflank_wire.hpp"

#include <algorithm>

#include "gateway/core/crypto.hpp"
#include "gateway/core/ids.hpp"
#include "gateway/core/number_text.hpp"
#include "providers/shell/shell_command.hpp"

namespace sandgate::northflank {
namespace {

struct Plan {
  std::string_view id;
  int64_t milli_vcpu, memory_mib;
};

// As published by the vendor, cheapest first.
constexpr Plan kPlans[] = {
    {"nf-compute-50", 500, 1024},          {"nf-compute-100-1", 1000, 1024},
    {"nf-compute-100-2", 1000, 2048},      {"nf-compute-100-4", 1000, 4096},
    {"nf-compute-200", 2000, 4096},        {"nf-compute-200-8", 2000, 8192},
    {"nf-compute-400", 4000, 8192},        {"nf-compute-200-16", 2000, 16'384},
    {"nf-compute-400-16", 4000, 16'384},   {"nf-compute-800-8", 8000, 8192},
    {"nf-compute-800-16", 8000, 16'384},   {"nf-compute-800-24", 8000, 24'576},
    {"nf-compute-800-32", 8000, 32'768},   {"nf-compute-1200-24", 12'000, 24'576},
    {"nf-compute-800-40", 8000, 40'960},   {"nf-compute-1600-32", 16'000, 32'768},
    {"nf-compute-2000-40", 20'000, 40'960}};

const Plan* cheapest_plan(const Resources& size) {
  const auto* found = std::ranges::find_if(kPlans, [&](const Plan& plan) {
    return plan.milli_vcpu >= size.milli_vcpu && plan.memory_mib >= size.memory_mib;
  });
  return found == std::end(kPlans) ? nullptr : found;
}

const Plan* plan_named(std::string_view id) {
  const auto* found = std::ranges::find(kPlans, id, [](const Plan& plan) { return plan.id; });
  return found == std::end(kPlans) ? nullptr : found;
}

// The vendor's range for an expiry, in seconds.
constexpr int64_t kMinExpiry = 300, kMaxExpiry = 604'800;
// Precedes the gateway's id in the description.
constexpr std::string_view kWhoseService = "Sandgate ";
// The longest wait that is passed on, in seconds.
constexpr int64_t kMaxWait = 3600;

Json message_of(const char* type, Json data) { return {{"type", type}, {"data", std::move(data)}}; }

// The vendor's own client accepts base64 without padding.
std::string bytes_of_text(std::string text) {
  while (text.size() % 4 != 0) text.push_back('=');
  auto bytes = base64_decode(text);
  if (!bytes) throw unexpected_answer("northflank");
  return std::move(*bytes);
}

}  // namespace

std::string to_plan(const Resources& resources) {
  if (const Plan* plan = cheapest_plan(resources)) return std::string(plan->id);
  throw Error(ErrorCode::no_capacity, "northflank has no plan of that size");
}

Resources granted(const Resources& asked, const CreateRules& rules) {
  const Plan* plan = rules.plan.empty() ? cheapest_plan(asked) : plan_named(rules.plan);
  Resources size = asked;
  if (!plan) return size;  // unknown, or none: the create says so
  size.milli_vcpu = plan->milli_vcpu;
  size.memory_mib = plan->memory_mib;
  return size;
}

Json to_create(const CreateSpec& spec, const CreateRules& rules) {
  if (spec.network.fallback == NetworkDefault::deny || !spec.network.allow.empty())
    throw Error(ErrorCode::unsupported, "northflank has no such network policy");
  Json source{{"imagePath", spec.image.empty() ? rules.image : spec.image}};
  if (!rules.registry.empty()) source["credentials"] = rules.registry;
  Json deployment{
      {"instances", 1},
      {"docker", {{"configType", "customCommand"}, {"customCommand", "sleep infinity"}}},
      {"external", std::move(source)},
      {"storage", {{"ephemeralStorage", {{"storageSize", spec.resources.disk_gib * 1024}}}}}};
  const int64_t life = std::max<int64_t>(spec.ttl.count(), rules.keep_alive_seconds);
  Json body{
      {"name", spec.sandbox_id},
      {"billing", {{"deploymentPlan", rules.plan.empty() ? to_plan(spec.resources) : rules.plan}}},
      {"deployment", std::move(deployment)},
      {"runtimeEnvironment", spec.env},
      {"createOptions", {{"expiryTime", std::clamp(life, kMinExpiry, kMaxExpiry)}}}};
  if (!spec.installation.empty())
    body["description"] = std::string(kWhoseService) + spec.installation;
  return body;
}

const Json& data_of(const Json& document) {
  if (!document.is_object() || !document.contains("data")) throw unexpected_answer("northflank");
  return document["data"];
}

Box to_box(const Json& service, Isolation isolation) {
  return reading("northflank", [&] {
    Box box;
    box.sandbox.isolation = isolation;
    box.sandbox.backend_id = service.at("id").get<std::string>();
    // The service's name is our id; other services of the project have other names.
    if (const auto ours = SandboxId::parse(text_of(service, "name")))
      box.sandbox.sandbox_id = ours->value;
    if (const std::string text = text_of(service, "description"); text.starts_with(kWhoseService))
      box.sandbox.installation = text.substr(kWhoseService.size());
    box.sandbox.region = text_of(service.value("deployment", Json()), "region");
    box.sandbox.created_at = time_of(service, "createdAt");
    if (service.value("servicePaused", Json()) == true) {
      box.sandbox.state = BackendState::paused;
      return box;
    }
    const Json status = service.value("status", Json::object());
    const std::string rollout = text_of(status.value("deployment", Json()), "status");
    box.running = rollout == "COMPLETED";
    box.failed = rollout == "FAILED";
    return box;
  });
}

SandboxPage to_page(const Json& document, Isolation isolation) {
  SandboxPage page;
  for (const Json& service : list_of("northflank", data_of(document), "services"))
    page.sandboxes.push_back(to_box(service, isolation).sandbox);
  const Json pagination = document.value("pagination", Json());
  if (pagination.is_object() && pagination.value("hasNextPage", Json()) == true)
    page.next = next_query("cursor", text_of(pagination, "cursor"));
  return page;
}

std::string to_init(const Command& command, const Secret& token) {
  Json context{{"command", {"/bin/sh", "-c", "cd 2>/dev/null; " + shell::line_of(command)}},
               {"shell", "none"},
               {"encoding", "base64"},
               {"tty", command.pty.has_value()}};
  if (command.pty) {
    context["ttyColumns"] = command.pty->cols;
    context["ttyRows"] = command.pty->rows;
  }
  if (!command.user.empty()) context["user"] = command.user;
  Json auth{{"type", "apiToken"}, {"apiToken", token.reveal()}};
  return message_of("init", {{"auth", std::move(auth)}, {"context", std::move(context)}}).dump();
}

std::string to_input(std::string_view bytes) {
  return message_of("payload", base64_encode(bytes)).dump();
}

std::string to_end_of_input() { return Json{{"type", "stdInEnd"}}.dump(); }

std::string to_resize(PtySize size) {
  return message_of("resize", {{"ttyRows", size.rows}, {"ttyColumns", size.cols}}).dump();
}

Frame to_frame(const std::string& message) {
  const Json document = parse_record(message);
  const std::string type = text_of(document, "type");
  return reading("northflank", [&] {
    Frame frame;
    if (type == "init") {
      const bool taken = text_of(document.at("data"), "auth") == "successful";
      frame.kind = taken ? Frame::accepted : Frame::refused;
    } else if (type == "stdOut" || type == "stdErr") {
      frame.kind = Frame::output;
      frame.channel = type == "stdErr" ? Channel::stderr_ : Channel::stdout_;
      frame.bytes = bytes_of_text(document.at("data").get<std::string>());
    } else if (type == "completion") {
      frame.kind = Frame::completed;
      const auto status = exit_status_of(document.at("data"), "exitCode");
      if (!status) throw unexpected_answer("northflank");
      frame.status = *status;
    } else if (type == "error") {
      frame.kind = Frame::refused;
    }
    return frame;
  });
}

Error read_error(std::string_view provider, const HttpReply& reply) {
  Error error = error_of_status(provider, reply.status, reply.headers);
  const auto reset = find_field(reply.headers, "x-ratelimit-reset");
  if (error.code != ErrorCode::rate_limited || error.retry_after || !reset) return error;
  if (const auto seconds = number_from<int64_t>(*reset))
    error.retry_after = std::chrono::seconds(std::clamp<int64_t>(*seconds, 0, kMaxWait));
  return error;
}

}  // namespace sandgate::northflank
