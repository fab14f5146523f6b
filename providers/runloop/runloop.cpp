#include "providers/runloop/runloop.hpp"

#include <set>

#include "providers/backoff.hpp"
#include "providers/retries.hpp"
#include "providers/runloop/runloop_process.hpp"

namespace sandgate {
namespace {

// The states of existing devboxes, in the order in which a devbox passes through them. A devbox
// that changes state between two requests is therefore still listed.
constexpr const char* kLiving[] = {"queued",    "provisioning", "initializing", "suspending",
                                   "suspended", "resuming",     "running"};

RestTarget target_of_runloop(const RunloopSettings& settings) {
  return {.provider = "runloop",
          .base_url = settings.api_url,
          .auth_value = bearer(settings.api_key),
          .allow_private = settings.allow_private};
}

}  // namespace

std::string runloop::box_path(const std::string& id) {
  return "/v1/devboxes/" + percent_encode(id);
}

RunloopProvider::RunloopProvider(HttpClient& http, asio::any_io_executor executor,
                                 RunloopSettings settings)
    : ShellProvider(std::move(executor)),
      settings_(std::move(settings)),
      api_(http, target_of_runloop(settings_)) {}

Descriptor RunloopProvider::descriptor() const {
  Descriptor descriptor{
      .provider = "runloop",
      .isolation = Isolation::microvm,
      .persistence = {Persistence::ephemeral, Persistence::persistent},
      .verbs = {{Verb::exec, Keeps::nothing},
                {Verb::files, Keeps::nothing},
                {Verb::pause, Keeps::disk},
                {Verb::snapshot, Keeps::disk},
                {Verb::fork, Keeps::disk}},
      .controls = {Control::network_allow, Control::allow_root, Control::cpu_limit,
                   Control::memory_limit, Control::disk_limit},
      .limits = settings_.limits,
      .notes = {"sizes are rounded up to the vendor's steps",
                "output is text: bytes that are no UTF-8 are lost"},
      .fixed_lifetime = std::chrono::seconds(settings_.rules.keep_alive_seconds)};
  if (!settings_.rules.deny_policy.empty()) descriptor.controls.insert(Control::network_deny);
  return descriptor;
}

Resources RunloopProvider::granted(const Resources& asked) const { return runloop::granted(asked); }

Task<std::optional<runloop::Box>> RunloopProvider::box_of(std::string id) {
  RestCall call{.path = runloop::box_path(id)};
  const auto document = co_await api_.find(std::move(call));
  if (!document) co_return std::nullopt;
  runloop::Box box = runloop::to_box(*document);
  if (box.sandbox.state == BackendState::gone) co_return std::nullopt;
  co_return box;
}

Task<BackendSandbox> RunloopProvider::create(CreateSpec spec) {
  // The vendor's clients send a request id, by which repeats are recognised.
  RestCall call{.method = "POST",
                .path = "/v1/devboxes",
                .json = runloop::to_create(spec, settings_.rules),
                .headers = {{"x-request-id", spec.sandbox_id}}};
  const Json document = co_await api_.create(std::move(call));
  runloop::Box box = runloop::to_box(document);
  const auto ask = [this, id = box.sandbox.backend_id] { return box_of(id); };
  Backoff pause;
  // Creates are asynchronous: an accepted sandbox does not run yet.
  while (!box.running) {
    co_await pause.wait();
    auto now = co_await retry_until_answered(ask);
    if (!now) throw Error(ErrorCode::no_capacity, "runloop could not start the sandbox");
    box = std::move(*now);
  }
  co_return box.sandbox;
}

Task<std::optional<BackendSandbox>> RunloopProvider::find(std::string id) {
  return sandbox_of(box_of(std::move(id)));
}

Task<std::vector<BackendSandbox>> RunloopProvider::list() {
  std::vector<BackendSandbox> all;
  std::set<std::string> seen;
  ListBudget budget(api_.target().provider);
  for (const char* state : kLiving) {
    std::string path = "/v1/devboxes?limit=100&status=" + std::string(state);
    auto found = co_await list_pages(api_, std::move(path), &runloop::to_page, budget);
    for (auto& sandbox : found)
      if (seen.insert(sandbox.backend_id).second) all.push_back(std::move(sandbox));
  }
  co_return all;
}

Task<void> RunloopProvider::kill(std::string id) {
  // Forced, so that a running snapshot does not keep the devbox alive.
  RestCall call{.method = "POST", .path = runloop::box_path(id) + "/shutdown?force=true"};
  co_await api_.find(std::move(call));
}

// The vendor refuses a command for a devbox that does not run as it refuses a wrong request.
Task<void> RunloopProvider::check_runs(std::string id) {
  const auto box = co_await existing(box_of(id), id);
  if (!box.running) throw Error(ErrorCode::conflict, "the sandbox does not run now");
}

Task<ShellProvider::LineResult> RunloopProvider::run(std::string id, std::string line) {
  Json body{{"command", std::move(line)}};
  RestCall call{
      .method = "POST", .path = runloop::box_path(id) + "/execute_sync", .json = std::move(body)};
  call.deadline = shell::kLineAnswer;
  const auto outcome = co_await attempt(api_.call(std::move(call)));
  if (const auto* error = std::get_if<Error>(&outcome)) {
    if (error->code == ErrorCode::invalid) co_await check_runs(id);
    throw *error;
  }
  const Json& document = std::get<Json>(outcome);
  const auto status = exit_status_of(document, "exit_status");
  if (!status) throw Error(ErrorCode::unavailable, "runloop did not run the command");
  co_return LineResult{*status, text_of(document, "stdout")};
}

Task<std::unique_ptr<ProcessStream>> RunloopProvider::exec(std::string id, Command command) {
  refuse_account(command);
  co_await existing(box_of(id), id);
  co_await check_directory(id, command);
  co_return co_await start_process<RunloopProcess, RunloopProvider>(std::move(id),
                                                                    std::move(command));
}

}  // namespace sandgate
