#include "providers/sprites/sprites.hpp"

#include "providers/fixed_resources.hpp"
#include "providers/named_create.hpp"
#include "providers/sprites/sprites_input.hpp"
#include "providers/sprites/sprites_process.hpp"

namespace sandgate {
namespace {

// The vendor has no separate status for a name that is in use.
constexpr ErrorCode kSpritesTaken[] = {ErrorCode::invalid};

RestTarget target_of_sprites(const SpritesSettings& settings) {
  return {.provider = "sprites",
          .base_url = settings.api_url,
          .auth_value = bearer(settings.token),
          .allow_private = settings.allow_private};
}

std::string sprite_path(const std::string& id) { return "/v1/sprites/" + percent_encode(id); }

std::string sprite_file(const std::string& id, const char* verb, const std::string& path) {
  return sprite_path(id) + "/fs/" + verb + "?workingDir=%2F&path=" + percent_encode(path);
}

}  // namespace

SpritesProvider::SpritesProvider(HttpClient& http, asio::any_io_executor executor,
                                 SpritesSettings settings)
    : LiveInputProvider(std::move(executor)),
      settings_(std::move(settings)),
      api_(http, target_of_sprites(settings_), &sprites::read_error) {}

Descriptor SpritesProvider::descriptor() const {
  return {.provider = "sprites",
          .isolation = Isolation::microvm,
          .persistence = {Persistence::ephemeral, Persistence::persistent},
          .verbs = {{Verb::exec, Keeps::nothing},
                    {Verb::stdin_, Keeps::nothing},
                    {Verb::signal, Keeps::nothing},
                    {Verb::files, Keeps::nothing},
                    {Verb::pty, Keeps::nothing}},
          .controls = {Control::network_deny, Control::network_allow, Control::allow_root,
                       Control::cpu_limit, Control::memory_limit, Control::disk_limit},
          .limits = settings_.limits,
          .notes = {"processors and disk are the vendor's fixed size",
                    "the vendor ends no sandbox by itself"}};
}

// Only the memory is limited to what is asked, by a policy.
Resources SpritesProvider::granted(const Resources& asked) const {
  Resources size = fixed_resources(settings_.limits, asked);
  size.memory_mib = asked.memory_mib;
  return size;
}

Task<void> SpritesProvider::configure(std::string id, CreateSpec spec) {
  Json resources = sprites::to_resources(spec.resources);
  co_await api_.post(sprite_path(id) + "/policy/resources", std::move(resources));
  Json network = sprites::to_network(spec.network);
  co_await api_.post(sprite_path(id) + "/policy/network", std::move(network));
}

Task<BackendSandbox> SpritesProvider::create(CreateSpec spec) {
  RestCall call{
      .method = "POST", .path = "/v1/sprites", .json = sprites::to_create(spec, settings_.runtime)};
  const auto named = [this, name = spec.sandbox_id] { return find(name); };
  auto sandbox =
      co_await create_named(api_, std::move(call), kSpritesTaken, &sprites::to_sandbox, named);
  const auto limited = co_await attempt(configure(sandbox->backend_id, spec));
  if (const auto* error = std::get_if<Error>(&limited)) {
    // A sandbox must not run without its limits.
    Error why = refused_create(*error);
    const Error refusal = co_await abort_create(sandbox->backend_id, std::move(why));
    throw refusal;
  }
  co_return std::move(*sandbox);
}

Task<std::optional<BackendSandbox>> SpritesProvider::find(std::string id) {
  RestCall call{.path = sprite_path(id)};
  const auto document = co_await api_.find(std::move(call));
  if (!document) co_return std::nullopt;
  co_return sprites::to_sandbox(*document);
}

Task<std::optional<BackendSandbox>> SpritesProvider::find_by_tag(std::string sandbox_id) {
  return find(std::move(sandbox_id));
}

Task<std::vector<BackendSandbox>> SpritesProvider::list() {
  return list_pages(api_, "/v1/sprites?prefix=sb&max_results=50", &sprites::to_page);
}

Task<void> SpritesProvider::kill(std::string id) { return api_.remove(sprite_path(id)); }

Task<std::unique_ptr<WebSocket>> SpritesProvider::open(std::string id, std::string path) {
  WebSocketCall call{.url = settings_.api_url + sprite_path(id) + path,
                     .headers = {{"Authorization", bearer(settings_.token).reveal()}},
                     .allow_private = settings_.allow_private,
                     .read_error = &sprites::read_error};
  co_return co_await open_web_socket("sprites", std::move(call));
}

Task<ShellProvider::LineResult> SpritesProvider::run(std::string id, std::string line) {
  return run_process<SpritesProcess, SpritesProvider>(std::move(id), std::move(line));
}

Task<std::unique_ptr<ProcessStream>> SpritesProvider::exec(std::string id, Command command) {
  refuse_account(command);
  co_await check_directory(id, command);
  co_return co_await start_process<SpritesProcess, SpritesProvider>(std::move(id),
                                                                    std::move(command));
}

Task<sprites::Session> SpritesProvider::session_of(std::string id, std::string process) {
  const Json document = co_await api_.get(sprite_path(id) + "/exec");
  auto session = sprites::to_session(document, process);
  if (!session) throw Error::not_found("process", process);
  co_return std::move(*session);
}

Task<void> SpritesProvider::send_messages(std::string id, std::string session,
                                          std::vector<WebSocket::Message> messages) {
  auto socket = co_await open(id, "/exec/" + percent_encode(session) + "?stdin=true");
  for (auto& message : messages) co_await socket->write(std::move(message));
  co_await socket->close();
}

Task<std::shared_ptr<LiveInput>> SpritesProvider::input_elsewhere(std::string id,
                                                                  std::string process) {
  const sprites::Session session = co_await session_of(id, process);
  auto send = [this, id, session = session.id](std::vector<WebSocket::Message> messages) {
    return send_messages(id, session, std::move(messages));
  };
  co_return std::make_shared<SpritesInput>(session.pty, std::move(send));
}

Task<std::unique_ptr<ByteSource>> SpritesProvider::download(std::string id, std::string path) {
  RestCall call{.path = sprite_file(id, "read", path)};
  call.takes_file();
  co_return co_await api_.stream(std::move(call));
}

Task<void> SpritesProvider::upload(std::string id, std::string path, ByteSource& bytes) {
  RestCall call{.method = "PUT", .path = sprite_file(id, "write", path)};
  call.sends_file(bytes);
  co_await api_.call(std::move(call));
}

}  // namespace sandgate
