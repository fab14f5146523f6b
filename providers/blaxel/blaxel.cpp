#include "providers/blaxel/blaxel.hpp"

#include "gateway/core/log.hpp"
#include "providers/backoff.hpp"
#include "providers/blaxel/blaxel_process.hpp"
#include "providers/fixed_end.hpp"
#include "providers/named_create.hpp"
#include "providers/retries.hpp"
#include "providers/shell/shell_command.hpp"

namespace sandgate {
namespace {

constexpr ErrorCode kBlaxelTaken[] = {ErrorCode::conflict};

RestTarget target_of_blaxel(const BlaxelSettings& settings) {
  return {
      .provider = "blaxel",
      .base_url = settings.api_url,
      .auth_header = "x-blaxel-authorization",
      .auth_value = bearer(settings.api_key),
      .allow_private = settings.allow_private,
      // The first version whose lists have pages.
      .headers = {{"x-blaxel-workspace", settings.workspace}, {"Blaxel-Version", "2026-04-28"}}};
}

}  // namespace

std::string blaxel::box_path(const std::string& id) { return "/sandboxes/" + percent_encode(id); }
std::string blaxel::snapshot_path(const std::string& id) {
  return "/snapshots/" + percent_encode(id);
}

BlaxelProvider::BlaxelProvider(HttpClient& http, asio::any_io_executor executor,
                               BlaxelSettings settings)
    : ShellProvider(std::move(executor)),
      http_(http),
      settings_(std::move(settings)),
      api_(http, target_of_blaxel(settings_)) {}

Descriptor BlaxelProvider::descriptor() const {
  const std::string& region = settings_.rules.region;
  Descriptor descriptor{
      .provider = "blaxel",
      .isolation = Isolation::microvm,
      .persistence = {Persistence::ephemeral, Persistence::persistent},
      .verbs = {{Verb::exec, Keeps::nothing},
                {Verb::stdin_, Keeps::nothing},
                {Verb::signal, Keeps::nothing},
                {Verb::files, Keeps::nothing},
                {Verb::pause, Keeps::disk}},
      .controls = {Control::network_allow, Control::allow_root, Control::cpu_limit,
                   Control::memory_limit, Control::disk_limit},
      .limits = settings_.limits,
      .regions = region.empty() ? std::vector<std::string>{} : std::vector<std::string>{region},
      .notes = {"processors and disk come with the memory, which is rounded up for them",
                "a process that reads nothing for ten seconds refuses its stdin"}};
  if (settings_.rules.snapshots)
    descriptor.verbs.insert({{Verb::snapshot, Keeps::memory}, {Verb::fork, Keeps::memory}});
  return descriptor;
}

Resources BlaxelProvider::granted(const Resources& asked) const { return blaxel::granted(asked); }

Task<std::optional<blaxel::Box>> BlaxelProvider::record_of(std::string name) {
  RestCall call{.path = blaxel::box_path(name)};
  const auto document = co_await api_.find(std::move(call));
  if (!document) co_return std::nullopt;
  co_return blaxel::to_box(*document);
}

Task<std::optional<blaxel::Box>> BlaxelProvider::box_of(std::string name) {
  auto box = co_await record_of(std::move(name));
  if (box && box->sandbox.state == BackendState::gone) co_return std::nullopt;
  co_return box;
}

// Creates are asynchronous: an accepted sandbox may not run yet, nor have a record. One that ended
// keeps its record for minutes, so a missing record is no end. The caller's limit ends the wait.
Task<BackendSandbox> BlaxelProvider::wait_until_started(std::string name,
                                                        std::optional<blaxel::Box> box) {
  const auto ask = [this, name] { return record_of(name); };
  for (Backoff pause; !box || box->sandbox.state != BackendState::gone;) {
    if (box && box->running) co_return std::move(box->sandbox);
    co_await pause.wait();
    box = co_await retry_until_answered(ask);
  }
  Error why(ErrorCode::no_capacity, "blaxel could not start the sandbox");
  const Error error = co_await abort_create(std::move(name), std::move(why));
  throw error;
}

Task<BackendSandbox> BlaxelProvider::create(CreateSpec spec) {
  const bool fork = !spec.snapshot.empty();
  RestCall call{.method = "POST", .path = "/sandboxes"};
  if (fork) call.path = blaxel::snapshot_path(spec.snapshot) + "/fork";
  call.json = fork ? blaxel::to_fork(spec) : blaxel::to_create(spec, settings_.rules);
  const auto named = [this, name = spec.sandbox_id] { return box_of(name); };
  // The answer to a fork does not describe the sandbox.
  const auto read = [fork](const Json& document) {
    return fork ? std::nullopt : std::optional(blaxel::to_box(document));
  };
  auto box = co_await create_named(api_, std::move(call), kBlaxelTaken, read, named);
  BackendSandbox sandbox = co_await wait_until_started(spec.sandbox_id, std::move(box));
  // A fork inherits its origin's time to live. Sandgate enforces its own, so a failure is not
  // fatal.
  if (!fork) co_return sandbox;
  const auto outcome = co_await attempt(extend(spec.sandbox_id, spec.ttl));
  if (const auto* error = std::get_if<Error>(&outcome))
    log::warn("time to live not extended", {{"provider", "blaxel"}, {"reason", error->what()}});
  co_return sandbox;
}

Task<std::optional<BackendSandbox>> BlaxelProvider::find(std::string id) {
  return sandbox_of(box_of(std::move(id)));
}

Task<std::optional<BackendSandbox>> BlaxelProvider::find_by_tag(std::string sandbox_id) {
  return find(std::move(sandbox_id));
}

Task<std::vector<BackendSandbox>> BlaxelProvider::list() {
  return list_pages(api_, "/sandboxes?limit=200", &blaxel::to_page);
}

Task<void> BlaxelProvider::kill(std::string id) {
  co_await api_.remove(blaxel::box_path(id));
  urls_.forget(id);
}

Task<void> BlaxelProvider::extend(std::string id, std::chrono::seconds ttl) {
  Json document = co_await api_.get(blaxel::box_path(id));
  RestCall call{.method = "PUT",
                .path = blaxel::box_path(id),
                .json = blaxel::with_ttl(std::move(document), ttl, SystemClock().now())};
  const auto extended = co_await attempt(api_.call(std::move(call)));
  if (const auto* error = std::get_if<Error>(&extended)) throw refused_extension(*error);
}

Task<std::string> BlaxelProvider::url_of(std::string id) {
  if (auto known = urls_.find(id)) co_return std::move(*known);
  const auto box = co_await existing(box_of(id), id);
  if (!may_have_key(box.url, settings_.api_url)) throw unexpected_answer("blaxel");
  urls_.remember(id, box.url);
  co_return box.url;
}

Task<RestApi> BlaxelProvider::inside(std::string id) {
  RestTarget target = target_of_blaxel(settings_);
  target.base_url = co_await url_of(std::move(id));
  co_return RestApi(http_, std::move(target));
}

Task<ShellProvider::LineResult> BlaxelProvider::run(std::string id, std::string line) {
  RestApi server = co_await inside(id);
  Json body{{"command", "exec /bin/sh -c " + shell::quote("cd; " + line)},
            {"waitForCompletion", true},
            {"timeout", shell::kLineTime.count()}};
  RestCall call{.method = "POST", .path = "/process", .json = std::move(body)};
  call.deadline = shell::kLineAnswer;
  const Json document = co_await server.call(std::move(call));
  const auto code = exit_status_of(document, "exitCode");
  const std::string status = text_of(document, "status");
  if (!code || (status != "completed" && status != "failed"))
    throw Error(ErrorCode::unavailable, "blaxel did not run the command");
  co_return LineResult{*code, text_of(document, "stdout")};
}

Task<std::unique_ptr<ProcessStream>> BlaxelProvider::exec(std::string id, Command command) {
  refuse_account(command);
  co_await check_directory(id, command);
  co_return co_await start_process<BlaxelProcess, BlaxelProvider>(std::move(id),
                                                                  std::move(command));
}

Task<void> BlaxelProvider::write_stdin(std::string id, std::string process, std::string bytes) {
  RestApi server = co_await inside(id);
  for (size_t at = 0; at < bytes.size(); at += BlaxelProcess::kStdinPiece) {
    RestCall call{.method = "POST",
                  .path = "/process/" + percent_encode(process) + "/stdin",
                  .bytes = bytes.substr(at, BlaxelProcess::kStdinPiece)};
    call.deadline = std::chrono::seconds(30);
    co_await server.call(std::move(call));
  }
}

Task<void> BlaxelProvider::close_stdin(std::string id, std::string process) {
  RestApi server = co_await inside(id);
  RestCall call{.method = "DELETE", .path = "/process/" + percent_encode(process) + "/stdin"};
  co_await server.call(std::move(call));
}

}  // namespace sandgate
