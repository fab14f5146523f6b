#include "providers/cloudflare/cloudflare.hpp"

#include "gateway/core/random.hpp"
#include "providers/byte_sources.hpp"
#include "providers/cloudflare/cloudflare_process.hpp"
#include "providers/fixed_resources.hpp"
#include "providers/shell/shell_command.hpp"

namespace sandgate {
namespace {

constexpr size_t kCloudflareWritten = 8 << 20;  // bytes per upload; the bridge holds them in memory
// A container that is not running is started first.
constexpr auto kCloudflareStart = std::chrono::minutes(2);

RestTarget target_of_cloudflare(const CloudflareSettings& settings) {
  return {.provider = "cloudflare",
          .base_url = settings.api_url,
          .auth_value = bearer(settings.api_key),
          .allow_private = settings.allow_private};
}

BackendSandbox cloudflare_box(const std::string& id) {
  return {.backend_id = id,
          .sandbox_id = cloudflare::to_sandbox_id(id).value_or(""),
          .isolation = Isolation::microvm};
}

}  // namespace

std::string cloudflare::box_path(const std::string& id) {
  return "/v1/sandbox/" + percent_encode(id);
}

CloudflareProvider::CloudflareProvider(HttpClient& http, asio::any_io_executor executor,
                                       CloudflareSettings settings)
    : ShellProvider(std::move(executor)),
      settings_(std::move(settings)),
      api_(http, target_of_cloudflare(settings_), &cloudflare::read_error) {}

Descriptor CloudflareProvider::descriptor() const {
  return {.provider = "cloudflare",
          .isolation = Isolation::microvm,
          .persistence = {Persistence::ephemeral},
          .verbs = {{Verb::exec, Keeps::nothing},
                    {Verb::signal, Keeps::nothing},
                    {Verb::files, Keeps::nothing}},
          .controls = {settings_.network_deny ? Control::network_deny : Control::network_allow,
                       Control::cpu_limit, Control::memory_limit, Control::disk_limit},
          .limits = settings_.limits,
          .notes = {"sizes, image and network belong to the worker; settings tell them",
                    "a container that sleeps loses everything: the worker's sleepAfter decides",
                    "finding a sandbox starts a container when it has none",
                    "output is text: bytes that are no UTF-8 are lost"}};
}

// Every container is the worker's instance type.
Resources CloudflareProvider::granted(const Resources& asked) const {
  return fixed_resources(settings_.limits, asked);
}

Task<void> CloudflareProvider::write(std::string id, std::string name, std::string bytes) {
  RestCall call{.method = "PUT",
                .path = cloudflare::box_path(id) + "/file/" + name,
                .bytes = std::move(bytes)};
  call.deadline = kCloudflareStart;
  StartingRequest starting(seen_, id);
  co_await api_.call(std::move(call));
  starting.answered();
}

Task<BackendSandbox> CloudflareProvider::create(CreateSpec spec) {
  const bool deny = spec.network.fallback == NetworkDefault::deny;
  if (!spec.network.allow.empty() || deny != settings_.network_deny)
    throw Error(ErrorCode::unsupported, "the cloudflare worker has no such network policy");
  const std::string id = cloudflare::to_backend_id(spec.sandbox_id);
  std::string birth = cloudflare::to_init_script(spec);
  auto writing = write(id, cloudflare::kInitFile, std::move(birth));
  const auto written = co_await attempt(std::move(writing));
  if (const auto* error = std::get_if<Error>(&written)) throw refused_create(*error);
  const std::string line = cloudflare::install_line();
  auto settling = run(id, line);
  co_await set_up(id, std::move(settling), "cloudflare could not set the sandbox up");
  seen_.remember(id);
  co_return cloudflare_box(id);
}

Task<std::optional<BackendSandbox>> CloudflareProvider::find(std::string id) {
  RestCall call{.path = cloudflare::box_path(id) + "/running"};
  call.deadline = kCloudflareStart;
  const auto document = co_await api_.find(std::move(call));
  if (!document) co_return std::nullopt;
  const Json runs = document->is_object() ? document->value("running", Json()) : Json();
  if (runs != true) throw Error(ErrorCode::unavailable, "the cloudflare container does not answer");
  const bool there = co_await is_responsive(id);
  if (!there) co_return std::nullopt;
  seen_.remember(id);
  co_return cloudflare_box(id);
}

Task<std::optional<BackendSandbox>> CloudflareProvider::find_by_tag(std::string sandbox_id) {
  return find(cloudflare::to_backend_id(sandbox_id));
}

Task<std::vector<BackendSandbox>> CloudflareProvider::list() {
  // This request starts nothing, but shows whether the worker answers.
  co_await api_.get("/v1/pool/stats");
  std::vector<BackendSandbox> all;
  for (const std::string& id : seen_.all()) all.push_back(cloudflare_box(id));
  co_return all;
}

Task<void> CloudflareProvider::kill(std::string id) {
  RestCall call{.method = "DELETE", .path = cloudflare::box_path(id)};
  call.deadline = std::chrono::seconds(60);
  // Before the request: a line that arrives behind it may start the container again.
  seen_.forget(id);
  StartingRequest ending(seen_, id);
  co_await api_.find(std::move(call));
  ending.answered();
}

Task<ShellProvider::LineResult> CloudflareProvider::run(std::string id, std::string line) {
  RestCall call{.method = "POST",
                .path = cloudflare::box_path(id) + "/exec",
                .json = cloudflare::to_exec(line, shell::kLineTime)};
  call.deadline = kCloudflareStart;
  call.silence = shell::kLineAnswer;
  StartingRequest starting(seen_, id);
  std::unique_ptr<ByteSource> answer = co_await api_.stream(std::move(call));
  EventReader events(std::move(answer));
  LineResult ran;
  for (bool ended = false; !ended;) {
    const auto event = co_await events.next();
    if (!event) throw Error(ErrorCode::unavailable, "cloudflare did not run the command");
    const cloudflare::ExecEvent part = cloudflare::to_event(*event);
    ended = part.status.has_value();
    ran.status = part.status.value_or(0);
    if (part.channel == Channel::stdout_ && ran.output.size() < kMaxPrinted)
      ran.output += part.bytes;
  }
  starting.answered();
  if (ran.status != cloudflare::kGone) co_return ran;
  co_await kill(id);
  throw Error::not_found("sandbox", id);
}

Task<void> CloudflareProvider::upload(std::string id, std::string path, ByteSource& bytes) {
  std::string piece(kCloudflareWritten, '\0');
  for (const char* to = " > ";; to = " >> ") {
    const size_t filled = co_await fill(bytes, piece);
    // The bridge writes below /workspace only, and changes names that need escapes.
    const std::string name = "workspace/.sandgate-" + random_hex(8);
    std::string part = piece.substr(0, filled);
    co_await write(id, name, std::move(part));
    const std::string line =
        "f=/" + name + "; cat \"$f\"" + to + shell::quote(path) + "; s=$?; rm -f \"$f\"; exit $s";
    const LineResult ran = co_await run(id, line);
    check_written(ran);
    if (filled < piece.size()) co_return;
  }
}

Task<std::unique_ptr<ProcessStream>> CloudflareProvider::exec(std::string id, Command command) {
  refuse_account(command);
  // Also checks that the sandbox exists.
  const std::string nothing = "true";
  if (command.cwd.empty()) co_await run(id, nothing);
  co_await check_directory(id, command);
  co_return co_await start_process<CloudflareProcess, CloudflareProvider>(std::move(id),
                                                                          std::move(command));
}

}  // namespace sandgate
