#include "providers/e2b/e2b.hpp"

#include "providers/e2b/e2b_process.hpp"
#include "providers/fixed_end.hpp"
#include "providers/fixed_resources.hpp"
#include "providers/sandbox_pages.hpp"

namespace sandgate {
namespace {

constexpr const char* kEnvdPort = "49983";
// The vendor's clock may be off by that much.
constexpr auto kClockSlack = std::chrono::seconds(10);

RestTarget target_of_e2b(const E2bSettings& settings) {
  return {.provider = "e2b",
          .base_url = settings.api_url,
          .auth_header = "X-API-Key",
          .auth_value = settings.api_key,
          .allow_private = settings.allow_private};
}

// Whether the sandbox itself tells what a refusal to move the end is about: the time that was asked
// for, or that it is paused, which this call answers like one that is not there.
bool is_told_by_sandbox(const Error& error) {
  return error.code == ErrorCode::invalid || error.code == ErrorCode::no_capacity ||
         error.code == ErrorCode::not_found;
}

std::string e2b_path(const std::string& id) { return "/sandboxes/" + percent_encode(id); }

}  // namespace

E2bProvider::E2bProvider(HttpClient& http, asio::any_io_executor executor, E2bSettings settings)
    : ShellProvider(std::move(executor)),
      http_(http),
      settings_(std::move(settings)),
      api_(http, target_of_e2b(settings_), &e2b::read_error) {}

Descriptor E2bProvider::descriptor() const {
  return {.provider = "e2b",
          .isolation = settings_.isolation,
          .persistence = {Persistence::ephemeral, Persistence::persistent, Persistence::checkpoint},
          .verbs = {{Verb::exec, Keeps::nothing},
                    {Verb::stdin_, Keeps::nothing},
                    {Verb::signal, Keeps::nothing},
                    {Verb::files, Keeps::nothing},
                    {Verb::pty, Keeps::nothing},
                    {Verb::pause, Keeps::memory},
                    {Verb::snapshot, Keeps::memory},
                    {Verb::fork, Keeps::memory}},
          .controls = {Control::network_deny, Control::network_allow, Control::allow_root,
                       Control::cpu_limit, Control::memory_limit, Control::disk_limit},
          .limits = settings_.limits,
          .regions = settings_.region.empty() ? std::vector<std::string>{}
                                              : std::vector<std::string>{settings_.region},
          .notes = {"sizes belong to the template; limits tell them",
                    "the default account may use sudo"},
          .bills_paused_memory = false};
}

// The size belongs to the template.
Resources E2bProvider::granted(const Resources& asked) const {
  return fixed_resources(settings_.limits, asked);
}

BackendSandbox E2bProvider::to_sandbox(const Json& document) const {
  return e2b::to_sandbox(document, settings_.isolation, settings_.region);
}

Task<BackendSandbox> E2bProvider::create(CreateSpec spec) {
  const std::string& image = spec.image.empty() ? settings_.default_template : spec.image;
  RestCall call{.method = "POST", .path = "/sandboxes", .json = e2b::to_create(spec, image)};
  const Json document = co_await api_.create(std::move(call));
  BackendSandbox sandbox = to_sandbox(document);
  sandbox.sandbox_id = spec.sandbox_id;
  // An id that is known is another sandbox's, which such an answer must not cut off.
  if (accesses_.find(sandbox.backend_id))
    accesses_.forget(sandbox.backend_id);
  else
    accesses_.remember(sandbox.backend_id, e2b::to_access(document));
  co_return sandbox;
}

Task<std::optional<BackendSandbox>> E2bProvider::find(std::string id) {
  RestCall call{.path = e2b_path(id)};
  const auto document = co_await api_.find(std::move(call));
  if (!document) co_return std::nullopt;
  co_return to_sandbox(*document);
}

Task<std::vector<Json>> E2bProvider::entries_of(std::string path) {
  std::vector<Json> all;
  std::string cursor;
  ListBudget budget("e2b");
  for (;;) {
    RestCall call{.path = path + cursor, .budget = budget.bytes()};
    budget.take_page(call.path);
    HttpReply reply = co_await api_.send(std::move(call));
    if (reply.status != 200) throw api_.failure(reply, path);
    auto parsing = api_.parse(std::move(reply.body));
    Json items = co_await std::move(parsing);
    if (!items.is_array()) throw Error(ErrorCode::unavailable, "e2b sent no list");
    budget.take_entries(items.size());
    for (Json& item : items) all.push_back(std::move(item));
    const auto next = find_field(reply.headers, "X-Next-Token");
    if (!next || next->empty()) break;
    cursor = "&nextToken=" + percent_encode(*next);
  }
  co_return all;
}

Task<std::vector<BackendSandbox>> E2bProvider::pages(std::string query) {
  std::vector<BackendSandbox> all;
  const auto entries = co_await entries_of("/v2/sandboxes?limit=100&state=running,paused" + query);
  for (const Json& entry : entries) {
    BackendSandbox sandbox = to_sandbox(entry);
    if (!sandbox.sandbox_id.empty()) all.push_back(std::move(sandbox));
  }
  co_return all;
}

Task<std::optional<BackendSandbox>> E2bProvider::find_by_tag(std::string sandbox_id) {
  const auto found =
      co_await pages("&metadata=" + percent_encode("sandgate_id=" + percent_encode(sandbox_id)));
  for (const auto& sandbox : found)
    if (sandbox.sandbox_id == sandbox_id) co_return sandbox;
  co_return std::nullopt;
}

Task<std::vector<BackendSandbox>> E2bProvider::list() { return pages(""); }

Task<void> E2bProvider::kill(std::string id) {
  co_await api_.remove(e2b_path(id));
  accesses_.forget(id);
}

Task<void> E2bProvider::extend(std::string id, std::chrono::seconds ttl) {
  const Time wanted = SystemClock().now() + ttl;
  Json body{{"timeout", std::max<int64_t>(1, ttl.count())}};
  auto moving = api_.post(e2b_path(id) + "/timeout", std::move(body));
  const auto moved = co_await attempt(std::move(moving));
  const auto* refusal = std::get_if<Error>(&moved);
  if (refusal && !is_told_by_sandbox(*refusal)) throw *refusal;
  const Json document = co_await api_.get(e2b_path(id));
  // A paused sandbox has no end there, and resume() gives it one.
  if (text_of(document, "state") == "paused") co_return;
  // The vendor cuts a time that is beyond the plan's and does not say so, or refuses it.
  const auto end = from_rfc3339(text_of(document, "endAt"));
  if (end && *end + kClockSlack < wanted) throw beyond_end(*end);
  if (refusal) throw *refusal;
}

Task<e2b::Access> E2bProvider::access_of(std::string id) {
  if (auto known = accesses_.find(id)) co_return std::move(*known);
  const Json document = co_await api_.get(e2b_path(id));
  e2b::Access access = e2b::to_access(document);
  accesses_.remember(id, access);
  co_return access;
}

Task<RestApi> E2bProvider::envd(std::string id) {
  const e2b::Access access = co_await access_of(id);
  const std::string& domain = access.domain.empty() ? settings_.domain : access.domain;
  RestTarget target{.provider = "e2b",
                    .base_url = settings_.sandbox_url,
                    .auth_header = "X-Access-Token",
                    .auth_value = Secret(access.token),
                    .allow_private = settings_.allow_private};
  if (target.base_url.empty())
    target.base_url = "https://" + std::string(kEnvdPort) + "-" + percent_encode(id) + "." + domain;
  target.headers = {{"E2b-Sandbox-Id", id}, {"E2b-Sandbox-Port", kEnvdPort}};
  co_return RestApi(http_, std::move(target), &e2b::read_sandbox_error);
}

Task<std::unique_ptr<ProcessStream>> E2bProvider::exec(std::string id, Command command) {
  co_return co_await start_process<E2bProcess, E2bProvider>(std::move(id), std::move(command));
}

Task<void> E2bProvider::call_process(std::string id, std::string method, std::string tag,
                                     int64_t pid, Json body, bool waits) {
  body["process"] = tag.empty() ? Json{{"pid", pid}} : Json{{"tag", tag}};
  RestApi server = co_await envd(id);
  RestCall call{.method = "POST",
                .path = "/process.Process/" + method,
                .json = std::move(body),
                .headers = {{"Connect-Protocol-Version", "1"}}};
  if (waits) call.deadline = std::chrono::milliseconds(0);
  co_await server.call(std::move(call));
}

Task<void> E2bProvider::write_stdin(std::string id, std::string process, std::string bytes) {
  Json body = e2b::to_input(bytes, /*pty=*/false);
  // The call lasts until the process has read the bytes.
  co_await call_process(id, "SendInput", process, 0, std::move(body), /*waits=*/true);
}

Task<void> E2bProvider::close_stdin(std::string id, std::string process) {
  co_await call_process(id, "CloseStdin", process, 0, Json::object());
}

Task<void> E2bProvider::resize(std::string id, std::string process, PtySize size) {
  Json body{{"pty", {{"size", {{"cols", size.cols}, {"rows", size.rows}}}}}};
  co_await call_process(id, "Update", process, 0, std::move(body));
}

Task<ShellProvider::LineResult> E2bProvider::run(std::string id, std::string line) {
  return run_process<E2bProcess, E2bProvider>(std::move(id), std::move(line));
}

}  // namespace sandgate
