#include "providers/vercel/vercel.hpp"

#include "providers/backoff.hpp"
#include "providers/named_create.hpp"
#include "providers/retries.hpp"

namespace sandgate {
namespace {

constexpr ErrorCode kVercelTaken[] = {ErrorCode::conflict, ErrorCode::invalid};

RestTarget target_of_vercel(const VercelSettings& settings) {
  return {.provider = "vercel",
          .base_url = settings.api_url,
          .auth_value = bearer(settings.token),
          .allow_private = settings.allow_private};
}

}  // namespace

VercelProvider::VercelProvider(HttpClient& http, asio::any_io_executor executor,
                               VercelSettings settings)
    : ShellProvider(std::move(executor)),
      settings_(std::move(settings)),
      api_(http, target_of_vercel(settings_), &vercel::read_error) {}

Descriptor VercelProvider::descriptor() const {
  Descriptor descriptor{
      .provider = "vercel",
      .isolation = Isolation::microvm,
      .persistence = {Persistence::ephemeral, Persistence::persistent},
      .verbs = {{Verb::exec, Keeps::nothing},
                {Verb::background, Keeps::nothing},
                {Verb::signal, Keeps::nothing},
                {Verb::files, Keeps::nothing},
                {Verb::pty, Keeps::nothing},
                {Verb::pause, Keeps::disk},
                {Verb::snapshot, Keeps::disk},
                {Verb::fork, Keeps::disk}},
      .controls = {Control::network_deny, Control::network_allow, Control::allow_root,
                   Control::cpu_limit, Control::memory_limit, Control::disk_limit},
      .limits = settings_.limits,
      .notes = {"sizes are rounded up: one or an even number of cores with 2 GiB each",
                "the disk's size is the vendor's; limits tell it",
                "output is text: bytes that are no UTF-8 are lost, except in terminals",
                "a snapshot or a fork starts the sandbox anew: its processes end"}};
  const std::string& region = settings_.rules.region;
  if (!region.empty()) descriptor.regions.push_back(region);
  return descriptor;
}

Resources VercelProvider::granted(const Resources& asked) const { return vercel::granted(asked); }

std::string VercelProvider::with_team(std::string path) const {
  path += path.find('?') == std::string::npos ? '?' : '&';
  path += settings_.team.starts_with("team_") ? "teamId=" : "slug=";
  return path + percent_encode(settings_.team);
}

std::string VercelProvider::named(const std::string& id) const {
  return with_team("/v2/sandboxes/" + percent_encode(id) +
                   "?projectId=" + percent_encode(settings_.rules.project));
}

std::string VercelProvider::session_path(const std::string& session,
                                         const std::string& tail) const {
  return with_team("/v2/sandboxes/sessions/" + percent_encode(session) + tail);
}

Task<std::optional<vercel::Box>> VercelProvider::box_of(std::string id, bool resume) {
  RestCall call{.path = named(id)};
  if (resume) {
    call.path += "&resume=true";
    call.deadline = std::chrono::minutes(2);
  }
  const auto document = co_await api_.find(std::move(call));
  if (!document) co_return std::nullopt;
  vercel::Box box = vercel::to_box(*document);
  if (box.sandbox.state == BackendState::gone) co_return std::nullopt;
  remember(box);
  co_return box;
}

Task<vercel::Box> VercelProvider::running(vercel::Box box) {
  const auto ask = [this, id = box.sandbox.backend_id] { return box_of(id); };
  Backoff pause;
  while (!box.running) {
    co_await pause.wait();
    auto now = co_await retry_until_answered(ask);
    if (!now || now->stopped)
      throw Error(ErrorCode::no_capacity, "vercel could not start the sandbox");
    box = std::move(*now);
  }
  co_return box;
}

Task<BackendSandbox> VercelProvider::create(CreateSpec spec) {
  RestCall call{.method = "POST",
                .path = with_team("/v3/sandboxes"),
                .json = vercel::to_create(spec, settings_.rules)};
  const auto named = [this, name = spec.sandbox_id] { return box_named(name); };
  auto box = co_await create_named(api_, std::move(call), kVercelTaken, &vercel::to_box, named);
  remember(*box);
  auto outcome = co_await attempt(running(std::move(*box)));
  if (const auto* error = std::get_if<Error>(&outcome)) {
    if (error->code != ErrorCode::no_capacity) throw *error;
    const Error refusal = co_await abort_create(spec.sandbox_id, *error);
    throw refusal;
  }
  co_return std::move(std::get<vercel::Box>(outcome).sandbox);
}

Task<std::optional<BackendSandbox>> VercelProvider::find(std::string id) {
  return sandbox_of(box_of(std::move(id)));
}

Task<std::optional<vercel::Box>> VercelProvider::box_named(std::string sandbox_id) {
  return only_tagged(box_of(sandbox_id), sandbox_id);
}

Task<std::optional<BackendSandbox>> VercelProvider::find_by_tag(std::string sandbox_id) {
  return sandbox_of(box_named(std::move(sandbox_id)));
}

Task<std::vector<BackendSandbox>> VercelProvider::list() {
  const std::string project = percent_encode(settings_.rules.project);
  return list_pages(api_, with_team("/v2/sandboxes?project=" + project + "&limit=50"),
                    &vercel::to_page);
}

Task<void> VercelProvider::kill(std::string id) {
  // The vendor saves a persistent sandbox when it ends, and charges for that. The kill proceeds
  // even if this update fails.
  Json fleeting{{"persistent", false}};
  auto updating = update(id, std::move(fleeting));
  co_await attempt(std::move(updating));
  // The vendor stops a running session first, which takes seconds.
  RestCall call{.method = "DELETE", .path = named(id)};
  call.deadline = std::chrono::seconds(60);
  co_await api_.find(std::move(call));
  sessions_.forget(id);
}

void VercelProvider::remember(const vercel::Box& box) {
  if (box.running) sessions_.remember(box.sandbox.backend_id, box.session);
}

Task<vercel::Session> VercelProvider::session_of(std::string id) {
  if (auto known = sessions_.find(id)) co_return std::move(*known);
  const auto box = co_await existing(box_of(id), id);
  if (!box.running) throw Error(ErrorCode::conflict, "the sandbox does not run now");
  co_return box.session;
}

// Another replica of this gateway may have started a new session after this one ended.
template <class R>
Task<R> VercelProvider::in_session(std::string id, RestCall call,
                                   Task<R> (RestApi::*send)(RestCall)) {
  const std::string tail = std::move(call.path);
  vercel::Session session = co_await session_of(id);
  for (;;) {
    RestCall now = call;
    now.path = session_path(session.id, tail);
    auto outcome = co_await attempt((api_.*send)(std::move(now)));
    const auto* error = std::get_if<Error>(&outcome);
    if (!error) co_return std::move(std::get<0>(outcome));
    if (error->code != ErrorCode::not_found && error->code != ErrorCode::conflict) throw *error;
    sessions_.forget(id);
    vercel::Session latest = co_await session_of(id);
    if (latest.id == session.id) throw *error;
    session = std::move(latest);
  }
}

Task<Json> VercelProvider::call(std::string id, RestCall call) {
  return in_session<Json>(std::move(id), std::move(call), &RestApi::call);
}

Task<std::unique_ptr<HttpStream>> VercelProvider::stream(std::string id, RestCall call) {
  return in_session<std::unique_ptr<HttpStream>>(std::move(id), std::move(call), &RestApi::stream);
}

}  // namespace sandgate
