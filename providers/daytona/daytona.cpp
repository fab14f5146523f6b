#include "providers/daytona/daytona.hpp"

#include <algorithm>

#include "providers/backoff.hpp"
#include "providers/daytona/daytona_process.hpp"
#include "providers/fixed_end.hpp"
#include "providers/named_create.hpp"
#include "providers/newcomer.hpp"

namespace sandgate {
namespace {

constexpr ErrorCode kDaytonaTaken[] = {ErrorCode::conflict};

RestTarget target_of_daytona(const DaytonaSettings& settings) {
  return {.provider = "daytona",
          .base_url = settings.api_url,
          .auth_value = bearer(settings.api_key),
          .allow_private = settings.allow_private};
}

std::string daytona_path(const std::string& id) { return "/sandbox/" + percent_encode(id); }

}  // namespace

DaytonaProvider::DaytonaProvider(HttpClient& http, asio::any_io_executor executor,
                                 DaytonaSettings settings)
    : ShellProvider(std::move(executor)),
      http_(http),
      settings_(std::move(settings)),
      api_(http, target_of_daytona(settings_), &daytona::read_error) {}

Descriptor DaytonaProvider::descriptor() const {
  Descriptor descriptor{
      .provider = "daytona",
      .isolation = Isolation::container,
      .persistence = {Persistence::ephemeral, Persistence::persistent},
      .verbs = {{Verb::exec, Keeps::nothing},
                {Verb::files, Keeps::nothing},
                {Verb::pause, Keeps::disk}},
      .controls = {Control::network_deny, Control::network_allow, Control::allow_root,
                   Control::cpu_limit, Control::memory_limit, Control::disk_limit},
      .limits = settings_.limits,
      .notes = {"sizes belong to the snapshot unless the image is built (image:<reference>)",
                "sizes are rounded up to whole cores and GiB",
                "containers share the host's kernel"}};
  const std::string& target = settings_.rules.target;
  if (!target.empty()) descriptor.regions.push_back(target);
  if (settings_.process_limit) descriptor.controls.insert(Control::process_limit);
  return descriptor;
}

Resources DaytonaProvider::granted(const Resources& asked) const { return daytona::granted(asked); }

Task<std::optional<daytona::Box>> DaytonaProvider::box_of(std::string id_or_name) {
  RestCall call{.path = daytona_path(id_or_name)};
  const auto document = co_await api_.find(std::move(call));
  if (!document) co_return std::nullopt;
  daytona::Box box = daytona::to_box(*document);
  if (box.sandbox.state == BackendState::gone) co_return std::nullopt;
  remember(box);
  co_return box;
}

// Creates are asynchronous: an accepted sandbox does not run yet.
Task<daytona::Box> DaytonaProvider::wait_until_started(daytona::Box box) {
  const std::string id = box.sandbox.backend_id;
  const auto ask = [this, id] { return box_of(id); };
  Backoff pause;
  while (!box.running) {
    if (box.failed || box.sandbox.state != BackendState::running) {
      Error why(ErrorCode::no_capacity, "daytona could not start the sandbox");
      const Error error = co_await abort_create(id, std::move(why));
      throw error;
    }
    co_await pause.wait();
    auto now = co_await retry_until_known(ask);
    if (!now) throw Error(ErrorCode::no_capacity, "daytona gave the sandbox up");
    box = std::move(*now);
  }
  co_return box;
}

Task<BackendSandbox> DaytonaProvider::create(CreateSpec spec) {
  RestCall call{
      .method = "POST", .path = "/sandbox", .json = daytona::to_create(spec, settings_.rules)};
  const auto named = [this, name = spec.sandbox_id] { return box_named(name); };
  auto box = co_await create_named(api_, std::move(call), kDaytonaTaken, &daytona::to_box, named);
  daytona::Box ready = co_await wait_until_started(std::move(*box));
  remember(ready);
  co_return ready.sandbox;
}

Task<std::optional<BackendSandbox>> DaytonaProvider::find(std::string id) {
  auto box = co_await box_of(std::move(id));
  if (!box || box->failed) co_return std::nullopt;
  co_return std::move(box->sandbox);
}

Task<std::optional<daytona::Box>> DaytonaProvider::box_named(std::string sandbox_id) {
  return only_tagged(box_of(sandbox_id), sandbox_id);
}

// Found by name rather than label because lists lag behind.
Task<std::optional<BackendSandbox>> DaytonaProvider::find_by_tag(std::string sandbox_id) {
  return sandbox_of(box_named(std::move(sandbox_id)));
}

Task<std::vector<BackendSandbox>> DaytonaProvider::list() {
  return list_pages(api_, "/sandbox?limit=200", &daytona::to_page);
}

Task<void> DaytonaProvider::kill(std::string id) {
  co_await api_.remove(daytona_path(id));
  toolboxes_.forget(id);
}

// These minutes count from now, unlike those of a create; 0 would be no limit.
Task<void> DaytonaProvider::extend(std::string id, std::chrono::seconds ttl) {
  const int64_t minutes = std::max<int64_t>(1, in_units(ttl.count(), 60));
  RestCall call{.method = "POST", .path = daytona_path(id) + "/ttl/" + std::to_string(minutes)};
  const auto extended = co_await attempt(api_.call(std::move(call)));
  if (const auto* error = std::get_if<Error>(&extended)) throw refused_extension(*error);
}

void DaytonaProvider::remember(const daytona::Box& box) {
  if (may_have_key(box.toolbox_url, settings_.api_url))
    toolboxes_.remember(box.sandbox.backend_id, box.toolbox_url);
}

Task<std::string> DaytonaProvider::toolbox_url(std::string id) {
  if (auto known = toolboxes_.find(id)) co_return std::move(*known);
  const auto box = co_await existing(box_of(id), id);
  if (box.toolbox_url.empty())
    throw Error(ErrorCode::unavailable, "daytona names no address for the sandbox");
  if (!may_have_key(box.toolbox_url, settings_.api_url)) throw unexpected_answer("daytona");
  co_return box.toolbox_url;
}

Task<RestApi> DaytonaProvider::toolbox(std::string id) {
  const std::string url = co_await toolbox_url(id);
  RestTarget target = target_of_daytona(settings_);
  target.base_url = url + "/" + percent_encode(id);
  co_return RestApi(http_, std::move(target), &daytona::read_error);
}

Task<ShellProvider::LineResult> DaytonaProvider::run(std::string id, std::string line) {
  RestApi api = co_await toolbox(id);
  Json body{{"command", daytona::execute_command(line)}, {"timeout", shell::kLineTime.count()}};
  RestCall call{.method = "POST", .path = "/process/execute", .json = std::move(body)};
  call.deadline = shell::kLineAnswer;
  const Json document = co_await api.call(std::move(call));
  if (!document.is_object() || !document.contains("exitCode"))
    throw Error(ErrorCode::unavailable, "daytona did not run the command");
  co_return LineResult{exit_status_of(document, "exitCode").value_or(-1),
                       text_of(document, "result")};
}

Task<std::unique_ptr<WebSocket>> DaytonaProvider::follow(std::string id, std::string path) {
  const std::string url = co_await toolbox_url(id);
  WebSocketCall call{.url = url + "/" + percent_encode(id) + path,
                     .headers = {{"Authorization", bearer(settings_.api_key).reveal()}},
                     .allow_private = settings_.allow_private};
  co_return co_await open_web_socket("daytona", std::move(call));
}

Task<std::unique_ptr<ProcessStream>> DaytonaProvider::exec(std::string id, Command command) {
  refuse_account(command);
  co_await check_directory(id, command);
  co_return co_await start_process<DaytonaProcess, DaytonaProvider>(std::move(id),
                                                                    std::move(command));
}

}  // namespace sandgate
