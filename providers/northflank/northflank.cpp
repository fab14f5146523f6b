#include "providers/northflank/northflank.hpp"

#include "providers/backoff.hpp"
#include "providers/named_create.hpp"
#include "providers/newcomer.hpp"
#include "providers/northflank/northflank_process.hpp"
#include "providers/retries.hpp"

namespace sandgate {
namespace {

// Polls slowly: an account has a thousand requests per hour.
constexpr auto kFirstNorthflankLook = std::chrono::milliseconds(300),
               kLastNorthflankLook = std::chrono::milliseconds(3000);

constexpr ErrorCode kNorthflankTaken[] = {ErrorCode::conflict};

// A list takes one request for each hundred services.
constexpr auto kNorthflankList = std::chrono::seconds(120);

RestTarget target_of_northflank(const NorthflankSettings& settings) {
  return {.provider = "northflank",
          .base_url = settings.api_url,
          .auth_value = bearer(settings.api_token),
          .allow_private = settings.allow_private};
}

}  // namespace

NorthflankProvider::NorthflankProvider(HttpClient& http, asio::any_io_executor executor,
                                       NorthflankSettings settings)
    : LiveInputProvider(std::move(executor)),
      settings_(std::move(settings)),
      api_(http, target_of_northflank(settings_), &northflank::read_error) {}

Descriptor NorthflankProvider::descriptor() const {
  return {.provider = "northflank",
          .isolation = settings_.isolation,
          .persistence = {Persistence::ephemeral},
          .verbs = {{Verb::exec, Keeps::nothing},
                    {Verb::stdin_, Keeps::nothing},
                    {Verb::signal, Keeps::nothing},
                    {Verb::files, Keeps::nothing},
                    {Verb::pty, Keeps::nothing}},
          .controls = {Control::network_allow, Control::allow_root, Control::cpu_limit,
                       Control::memory_limit, Control::disk_limit},
          .limits = settings_.limits,
          .notes = {"sizes are rounded up to the vendor's plans",
                    "an account has a thousand requests an hour"},
          .fixed_lifetime = std::chrono::seconds(settings_.rules.keep_alive_seconds),
          .min_list_interval = kNorthflankList};
}

Resources NorthflankProvider::granted(const Resources& asked) const {
  return northflank::granted(asked, settings_.rules);
}

std::string NorthflankProvider::project_path() const {
  const std::string team =
      settings_.team.empty() ? "" : "teams/" + percent_encode(settings_.team) + "/";
  return team + "projects/" + percent_encode(settings_.project);
}

std::string NorthflankProvider::service_path(const std::string& id) const {
  return project_path() + "/services/" + percent_encode(id);
}

Task<std::optional<northflank::Box>> NorthflankProvider::box_of(std::string id) {
  RestCall call{.path = "/v1/" + service_path(id)};
  const auto document = co_await api_.find(std::move(call));
  if (!document) co_return std::nullopt;
  co_return northflank::to_box(northflank::data_of(*document), settings_.isolation);
}

Task<BackendSandbox> NorthflankProvider::create(CreateSpec spec) {
  RestCall call{.method = "POST",
                .path = "/v1/" + project_path() + "/services/deployment",
                .json = northflank::to_create(spec, settings_.rules)};
  const auto read = [isolation = settings_.isolation](const Json& document) {
    return northflank::to_box(northflank::data_of(document), isolation);
  };
  const auto named = [this, name = spec.sandbox_id] { return box_named(name); };
  auto accepted = co_await create_named(api_, std::move(call), kNorthflankTaken, read, named);
  northflank::Box box = std::move(*accepted);
  const std::string id = box.sandbox.backend_id;
  const auto ask = [this, id] { return box_of(id); };
  Backoff pause(kFirstNorthflankLook, kLastNorthflankLook);
  // Creates are asynchronous: an accepted sandbox does not run yet.
  while (!box.running) {
    co_await pause.wait();
    auto now = co_await retry_until_known(ask);
    if (!now) throw Error(ErrorCode::no_capacity, "northflank gave the sandbox up");
    box = std::move(*now);
    if (!box.failed && box.sandbox.state == BackendState::running) continue;
    Error why(ErrorCode::no_capacity, "northflank could not start the sandbox");
    const Error error = co_await abort_create(id, std::move(why));
    throw error;
  }
  box.sandbox.sandbox_id = spec.sandbox_id;
  co_return box.sandbox;
}

Task<std::optional<BackendSandbox>> NorthflankProvider::find(std::string id) {
  return sandbox_of(box_of(std::move(id)));
}

// The vendor's id of a service is its name, if that has lower-case letters and digits only.
Task<std::optional<northflank::Box>> NorthflankProvider::box_named(std::string sandbox_id) {
  return only_tagged(box_of(sandbox_id), sandbox_id);
}

Task<std::optional<BackendSandbox>> NorthflankProvider::find_by_tag(std::string sandbox_id) {
  return sandbox_of(box_named(std::move(sandbox_id)));
}

Task<std::vector<BackendSandbox>> NorthflankProvider::list() {
  return list_pages(api_, "/v1/" + project_path() + "/services?per_page=100",
                    [isolation = settings_.isolation](const Json& document) {
                      return northflank::to_page(document, isolation);
                    });
}

Task<void> NorthflankProvider::kill(std::string id) {
  co_await api_.remove("/v1/" + service_path(id) + "?delete_child_objects=true");
}

Task<std::shared_ptr<SharedSocket>> NorthflankProvider::connect(std::string id, std::string first) {
  WebSocketCall call{.url = settings_.api_url + "/v1/command-exec/" + service_path(id),
                     .allow_private = settings_.allow_private,
                     .read_error = &northflank::read_error};
  auto opened = co_await open_web_socket("northflank", std::move(call));
  const auto executor = co_await asio::this_coro::executor;
  auto socket = std::make_shared<SharedSocket>(std::move(opened), executor);
  WebSocket::Message message{true, std::move(first)};
  co_await socket->write(std::move(message));
  const auto answer = co_await socket->read();
  const auto frame = answer ? northflank::to_frame(answer->bytes) : northflank::Frame{};
  if (frame.kind != northflank::Frame::accepted)
    throw Error(ErrorCode::unavailable, "northflank did not start the process");
  co_return socket;
}

Task<std::shared_ptr<SharedSocket>> NorthflankProvider::start(std::string id,
                                                              const Command& command) {
  std::string first = northflank::to_init(command, settings_.api_token);
  auto outcome = co_await attempt(connect(id, std::move(first)));
  if (const auto* error = std::get_if<Error>(&outcome)) {
    // The sandbox is looked up only after a failure, to save requests.
    const Error failure = *error;
    const auto known = co_await attempt(box_of(id));
    const auto* box = std::get_if<0>(&known);
    if (box && !*box) throw Error::not_found("sandbox", id);
    throw failure;
  }
  co_return std::get<0>(outcome);
}

Task<std::unique_ptr<ProcessStream>> NorthflankProvider::exec(std::string id, Command command) {
  co_await check_directory(id, command);
  co_return co_await start_process<NorthflankProcess, NorthflankProvider>(std::move(id),
                                                                          std::move(command));
}

Task<ShellProvider::LineResult> NorthflankProvider::run(std::string id, std::string line) {
  return run_process<NorthflankProcess, NorthflankProvider>(std::move(id), std::move(line));
}

}  // namespace sandgate
