#include "providers/opensandbox/opensandbox.hpp"

#include "providers/backoff.hpp"
#include "providers/fixed_end.hpp"
#include "providers/opensandbox/opensandbox_process.hpp"
#include "providers/retries.hpp"
#include "providers/sandbox_pages.hpp"
#include "providers/transport/event_stream.hpp"

namespace sandgate {
namespace {

constexpr const char* kExecdPort = "44772";
constexpr const char* kKeyHeader = "OPEN-SANDBOX-API-KEY";
constexpr size_t kCommandRead = 64 << 10;

RestTarget target_of_opensandbox(const OpenSandboxSettings& settings) {
  return {.provider = "opensandbox",
          .base_url = settings.api_url,
          .auth_header = kKeyHeader,
          .auth_value = settings.api_key,
          .allow_private = settings.allow_private};
}

}  // namespace

std::string opensandbox::box_path(const std::string& id) {
  return "/sandboxes/" + percent_encode(id);
}

OpenSandboxProvider::OpenSandboxProvider(HttpClient& http, asio::any_io_executor executor,
                                         OpenSandboxSettings settings)
    : LiveInputProvider(std::move(executor)),
      http_(http),
      settings_(std::move(settings)),
      api_(http, target_of_opensandbox(settings_)) {}

Descriptor OpenSandboxProvider::descriptor() const {
  const auto& rules = settings_.rules;
  Descriptor descriptor{
      .provider = "opensandbox",
      .isolation = rules.isolation,
      .persistence = {Persistence::ephemeral, Persistence::persistent},
      .verbs = {{Verb::exec, Keeps::nothing},
                {Verb::stdin_, Keeps::nothing},
                {Verb::signal, Keeps::nothing},
                {Verb::files, Keeps::nothing},
                {Verb::pty, Keeps::nothing},
                {Verb::pause, rules.paused},
                {Verb::snapshot, Keeps::disk},
                {Verb::fork, Keeps::disk}},
      .controls = {Control::network_allow, Control::allow_root, Control::cpu_limit,
                   Control::memory_limit},
      .limits = settings_.limits,
      .notes = {"isolation is the server's secure runtime, which the operator tells",
                "stdin by a process's id reaches it through the gateway that started it"}};
  if (rules.paused == Keeps::memory) descriptor.persistence.insert(Persistence::checkpoint);
  if (rules.egress_enforced) descriptor.controls.insert(Control::network_deny);
  if (settings_.process_limit) descriptor.controls.insert(Control::process_limit);
  if (settings_.disk_limit) descriptor.controls.insert(Control::disk_limit);
  if (!rules.region.empty()) descriptor.regions.push_back(rules.region);
  return descriptor;
}

Task<std::optional<opensandbox::Box>> OpenSandboxProvider::box_of(std::string id) {
  RestCall call{.path = opensandbox::box_path(id)};
  const auto document = co_await api_.find(std::move(call));
  if (!document) co_return std::nullopt;
  opensandbox::Box box = opensandbox::to_box(*document, settings_.rules);
  if (box.sandbox.state == BackendState::gone) co_return std::nullopt;
  co_return box;
}

// Creates are asynchronous, and execd starts after its container.
Task<void> OpenSandboxProvider::wait_until_running(std::string id) {
  const auto ask = [this, id] { return box_of(id); };
  const auto ask_for_execd = [this, id] { return execd(id); };
  Backoff pause;
  for (bool running = false; !running; co_await pause.wait()) {
    const auto box = co_await retry_until_answered(ask);
    if (!box) {
      Error why(ErrorCode::no_capacity, "opensandbox could not start the sandbox");
      const Error error = co_await abort_create(id, std::move(why));
      throw error;
    }
    if (!box->running) continue;
    RestApi inside = co_await retry_until_answered(ask_for_execd);
    RestCall ping{.path = "/ping"};
    const auto answer = co_await attempt(inside.send(std::move(ping)));
    const auto* reply = std::get_if<HttpReply>(&answer);
    running = reply && reply->status == 200;
    if (running) co_return;
  }
}

Task<BackendSandbox> OpenSandboxProvider::create(CreateSpec spec) {
  RestCall call{.method = "POST",
                .path = "/sandboxes",
                .json = opensandbox::to_create(spec, settings_.rules)};
  const Json document = co_await api_.create(std::move(call));
  BackendSandbox sandbox = opensandbox::to_box(document, settings_.rules).sandbox;
  sandbox.sandbox_id = spec.sandbox_id;
  co_await wait_until_running(sandbox.backend_id);
  co_return sandbox;
}

Task<std::optional<BackendSandbox>> OpenSandboxProvider::find(std::string id) {
  return sandbox_of(box_of(std::move(id)));
}

Task<std::vector<BackendSandbox>> OpenSandboxProvider::pages(std::string query) {
  std::vector<BackendSandbox> all;
  ListBudget budget("opensandbox");
  for (int page = 1;; ++page) {
    RestCall call{.path = "/sandboxes?pageSize=100&page=" + std::to_string(page) + query,
                  .budget = budget.bytes()};
    budget.take_page(call.path);
    const Json document = co_await api_.call(std::move(call));
    const Json& items = list_of("opensandbox", document, "items");
    budget.take_entries(items.size());
    for (const Json& item : items) {
      opensandbox::Box box = opensandbox::to_box(item, settings_.rules);
      const bool is_there = box.failed || box.sandbox.state != BackendState::gone;
      if (is_there && !box.sandbox.sandbox_id.empty()) all.push_back(std::move(box.sandbox));
    }
    if (!opensandbox::has_next_page(document)) break;
  }
  co_return all;
}

Task<std::optional<BackendSandbox>> OpenSandboxProvider::find_by_tag(std::string sandbox_id) {
  const std::string pair = std::string(kSandboxTag) + "=" + sandbox_id;
  const auto found = co_await pages("&metadata=" + percent_encode(pair));
  for (const auto& sandbox : found)
    if (sandbox.sandbox_id == sandbox_id && sandbox.state != BackendState::gone) co_return sandbox;
  co_return std::nullopt;
}

Task<std::vector<BackendSandbox>> OpenSandboxProvider::list() { return pages(""); }

Task<void> OpenSandboxProvider::kill(std::string id) {
  return api_.remove(opensandbox::box_path(id));
}

Task<void> OpenSandboxProvider::extend(std::string id, std::chrono::seconds ttl) {
  const auto end = std::chrono::ceil<std::chrono::seconds>(SystemClock().now() + ttl);
  Json body{{"expiresAt", to_rfc3339(end)}};
  auto renewing = api_.post(opensandbox::box_path(id) + "/renew-expiration", std::move(body));
  const auto outcome = co_await attempt(std::move(renewing));
  // A conflict means that the sandbox lives longer already: the expiry only moves forward.
  const auto* error = std::get_if<Error>(&outcome);
  if (error && error->code != ErrorCode::conflict) throw refused_extension(*error);
}

Task<opensandbox::Endpoint> OpenSandboxProvider::endpoint_of(std::string id) {
  const std::string proxied = settings_.use_server_proxy ? "?use_server_proxy=true" : "";
  RestCall call{.path = opensandbox::box_path(id) + "/endpoints/" + kExecdPort + proxied};
  const Json document = co_await api_.call(std::move(call));
  opensandbox::Endpoint endpoint = opensandbox::to_endpoint(document);
  // A server of several tenants wants its key on this way too, and takes it off. A sandbox that is
  // reached directly must not see it.
  const std::string url = settings_.sandbox_scheme + "://" + endpoint.place;
  if (settings_.use_server_proxy && may_have_key(url, settings_.api_url))
    endpoint.headers.emplace_back(kKeyHeader, settings_.api_key.reveal());
  co_return endpoint;
}

Task<RestApi> OpenSandboxProvider::execd(std::string id) {
  const opensandbox::Endpoint endpoint = co_await endpoint_of(id);
  RestTarget target{.provider = "opensandbox",
                    .base_url = settings_.sandbox_scheme + "://" + endpoint.place,
                    .allow_private = settings_.allow_private};
  target.headers = endpoint.headers;
  co_return RestApi(http_, std::move(target));
}

Task<std::unique_ptr<WebSocket>> OpenSandboxProvider::attach(std::string id, std::string path) {
  const opensandbox::Endpoint endpoint = co_await endpoint_of(id);
  WebSocketCall call{.url = settings_.sandbox_scheme + "://" + endpoint.place + path,
                     .headers = endpoint.headers,
                     .allow_private = settings_.allow_private};
  co_return co_await open_web_socket("opensandbox", std::move(call));
}

// By execd's call for commands, which returns text only and has no stdin.
Task<ShellProvider::LineResult> OpenSandboxProvider::run(std::string id, std::string line) {
  RestApi inside = co_await execd(id);
  Json body{{"command", "cd; " + line},
            {"timeout", std::chrono::milliseconds(shell::kLineTime).count()}};
  RestCall call{.method = "POST",
                .path = "/command",
                .json = std::move(body),
                .headers = {{"Accept", "text/event-stream"}}};
  call.deadline = std::chrono::seconds(30);
  call.silence = shell::kLineAnswer;
  const auto stream = co_await inside.stream(std::move(call));
  LineSplitter lines;
  LineResult ran;
  std::string piece(kCommandRead, '\0');
  for (;;) {
    const size_t count = co_await stream->read(piece);
    if (count == 0) throw Error(ErrorCode::unavailable, "opensandbox lost the command");
    lines.add(std::string_view(piece).substr(0, count));
    while (const auto next = lines.next()) {
      const auto event = opensandbox::to_event(*next);
      ran.status = event.status;
      if (event.kind == opensandbox::CommandEvent::ended) co_return ran;
      if (event.kind != opensandbox::CommandEvent::output) continue;
      if (ran.output.size() < kMaxPrinted) ran.output += event.text + "\n";
    }
  }
}

Task<std::unique_ptr<ProcessStream>> OpenSandboxProvider::exec(std::string id, Command command) {
  refuse_account(command);
  co_await check_directory(id, command);
  co_return co_await start_process<OpenSandboxProcess, OpenSandboxProvider>(std::move(id),
                                                                            std::move(command));
}

}  // namespace sandgate
