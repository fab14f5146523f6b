#include "providers/agentcore/agentcore_runtime.hpp"

#include "gateway/core/random.hpp"
#include "providers/agentcore/agentcore_runtime_process.hpp"
#include "providers/fixed_resources.hpp"

namespace sandgate {
namespace {

// A session that is not running is started first.
constexpr auto kRuntimeStart = std::chrono::minutes(2);

RestTarget target_of_runtime(const AgentcoreRuntimeSettings& settings, const std::string& url) {
  RestTarget target = aws_target("agentcore_runtime", url, settings.keys, settings.runtime.region,
                                 "bedrock-agentcore");
  target.allow_private = settings.allow_private;
  return target;
}

HttpFields runtime_session(const std::string& id) {
  return {{"X-Amzn-Bedrock-AgentCore-Runtime-Session-Id", id}};
}

}  // namespace

AgentcoreRuntimeProvider::AgentcoreRuntimeProvider(HttpClient& http, asio::any_io_executor executor,
                                                   AgentcoreRuntimeSettings settings)
    : ShellProvider(std::move(executor)),
      settings_(std::move(settings)),
      api_(http, target_of_runtime(settings_, settings_.api_url)),
      control_(http, target_of_runtime(settings_, settings_.control_url)) {}

Descriptor AgentcoreRuntimeProvider::descriptor() const {
  return {.provider = "agentcore_runtime",
          .isolation = Isolation::microvm,
          .persistence = {Persistence::ephemeral},
          .verbs = {{Verb::exec, Keeps::nothing},
                    {Verb::signal, Keeps::nothing},
                    {Verb::files, Keeps::nothing}},
          .controls = {settings_.network_deny ? Control::network_deny : Control::network_allow,
                       Control::cpu_limit, Control::memory_limit, Control::disk_limit},
          .limits = settings_.limits,
          .regions = {settings_.runtime.region},
          .notes = {"image, network and lifetime belong to the agent runtime; settings tell them",
                    "a session that was idle for too long has lost everything: the runtime decides",
                    "finding a sandbox starts a session when it has none",
                    "a command ends after an hour",
                    "commands, with their environment and what is uploaded, are in the runtime's "
                    "log"},
          .fixed_lifetime = std::chrono::seconds(settings_.limits.max_ttl_seconds)};
}

Resources AgentcoreRuntimeProvider::granted(const Resources& asked) const {
  return fixed_resources(settings_.limits, asked);
}

std::string AgentcoreRuntimeProvider::path(const char* operation) const {
  return "/runtimes/" + percent_encode(settings_.runtime.text) + "/" + operation +
         "?qualifier=" + percent_encode(settings_.qualifier);
}

BackendSandbox AgentcoreRuntimeProvider::box(const std::string& id) const {
  return {.backend_id = id,
          .sandbox_id = agentcore_runtime::to_sandbox_id(id),
          .isolation = Isolation::microvm,
          .region = settings_.runtime.region};
}

Task<BackendSandbox> AgentcoreRuntimeProvider::create(CreateSpec spec) {
  const bool deny = spec.network.fallback == NetworkDefault::deny;
  if (!spec.network.allow.empty() || deny != settings_.network_deny)
    throw Error(ErrorCode::unsupported, "the agent runtime has no such network policy");
  if (!spec.image.empty() && spec.image != settings_.runtime.id)
    throw Error(ErrorCode::no_capacity, "the deployment is for another agent runtime");
  const std::string id = agentcore_runtime::to_session_id(spec.sandbox_id);
  std::string birth = agentcore_runtime::init_script(spec.env);
  const auto started =
      co_await attempt(start(id, std::move(birth), shell::kLineTime, kRuntimeStart));
  if (const auto* error = std::get_if<Error>(&started)) throw refused_create(*error);
  // The session exists from here on, whatever the answer says.
  auto settling = result_of(*std::get<0>(started));
  co_await set_up(id, std::move(settling), "the agent runtime could not set the sandbox up");
  seen_.remember(id);
  co_return box(id);
}

Task<std::optional<BackendSandbox>> AgentcoreRuntimeProvider::find(std::string id) {
  const bool there = co_await is_responsive(id);
  if (!there) co_return std::nullopt;
  seen_.remember(id);
  co_return box(id);
}

Task<std::optional<BackendSandbox>> AgentcoreRuntimeProvider::find_by_tag(std::string sandbox_id) {
  return find(agentcore_runtime::to_session_id(sandbox_id));
}

Task<std::vector<BackendSandbox>> AgentcoreRuntimeProvider::list() {
  // This request starts nothing, but shows whether the vendor answers.
  std::string question = "/runtimes/" + settings_.runtime.id + "/";
  co_await control_.get(std::move(question));
  std::vector<BackendSandbox> all;
  for (const std::string& id : seen_.all()) all.push_back(box(id));
  co_return all;
}

Task<void> AgentcoreRuntimeProvider::kill(std::string id) {
  // Each stop needs a new token, since a request may have restarted the session after a stop.
  RestCall call{.method = "POST",
                .path = path("stopruntimesession"),
                .json = Json{{"clientToken", "sandgate-" + random_hex(16)}},
                .headers = runtime_session(id)};
  call.deadline = std::chrono::seconds(60);
  // Before the request: a command that arrives behind it may start the session again.
  seen_.forget(id);
  StartingRequest stopping(seen_, id);
  co_await api_.find(std::move(call));
  stopping.answered();
}

Task<std::unique_ptr<aws::EventMessageReader>> AgentcoreRuntimeProvider::start(
    std::string id, std::string script, std::chrono::milliseconds limit,
    std::chrono::seconds silence) {
  RestCall call{.method = "POST",
                .path = path("commands"),
                .json = agentcore_runtime::to_command(script, limit),
                .headers = runtime_session(id)};
  call.headers.emplace_back("Accept", "application/vnd.amazon.eventstream");
  call.deadline = kRuntimeStart;
  call.silence = silence;
  std::unique_ptr<ByteSource> answer = co_await api_.stream(std::move(call));
  co_return std::make_unique<aws::EventMessageReader>("agentcore_runtime", std::move(answer));
}

Task<ShellProvider::LineResult> AgentcoreRuntimeProvider::result_of(
    aws::EventMessageReader& events) {
  LineResult ran;
  for (bool ended = false; !ended;) {
    const auto event = co_await events.next();
    if (!event) throw Error(ErrorCode::unavailable, "agentcore_runtime did not run the command");
    if (event->type != "chunk") continue;
    const agentcore_runtime::Chunk part = agentcore_runtime::to_chunk(event->payload);
    if (part.timed_out) throw Error(ErrorCode::unavailable, "the sandbox took too long");
    if (ran.output.size() < kMaxPrinted) ran.output += part.out;
    ended = part.status.has_value();
    ran.status = part.status.value_or(0);
  }
  co_return ran;
}

Task<ShellProvider::LineResult> AgentcoreRuntimeProvider::run(std::string id, std::string line) {
  std::string script = agentcore_runtime::in_session(line);
  StartingRequest starting(seen_, id);
  const auto events = co_await start(id, std::move(script), shell::kLineTime, kRuntimeStart);
  LineResult ran = co_await result_of(*events);
  starting.answered();
  const size_t end = ran.output.find('\n');
  const std::string word = ran.output.substr(0, end);
  if (word == agentcore_runtime::kGone) {
    co_await kill(id);
    throw Error::not_found("sandbox", id);
  }
  if (word != agentcore_runtime::kHere || end == std::string::npos)
    throw Error(ErrorCode::unavailable, "the agent runtime did not run the command");
  ran.output.erase(0, end + 1);
  co_return ran;
}

Task<std::unique_ptr<ProcessStream>> AgentcoreRuntimeProvider::exec(std::string id,
                                                                    Command command) {
  refuse_account(command);
  co_return co_await start_process<AgentcoreRuntimeProcess, AgentcoreRuntimeProvider>(
      std::move(id), std::move(command));
}

}  // namespace sandgate
