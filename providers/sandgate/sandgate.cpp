#include "providers/sandgate/sandgate.hpp"

#include <unordered_map>

#include "gateway/core/log.hpp"
#include "providers/sandgate/sandgate_process.hpp"
#include "providers/sandgate/sandgate_wire.hpp"
#include "providers/vendor_json.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::milliseconds kDescriptorAge{30'000}, kFirstRetry{250}, kLastRetry{8'000};
constexpr const char* kNotReached = "that gateway could not be asked yet what it offers";
constexpr const char* kAllSandboxes = "/v1/sandboxes?limit=100&ended=false";

RestTarget target_of(const SandgateSettings& settings) {
  return {.provider = "sandgate",
          .base_url = settings.url,
          .auth_value = Secret("Bearer " + settings.api_key.reveal()),
          .allow_private = settings.allow_private};
}

// What that gateway never makes, as where the way leads back or its profile allows less, is no lack
// of room there.
bool is_for_ever(ErrorCode code) {
  return code == ErrorCode::invalid || code == ErrorCode::not_found ||
         code == ErrorCode::too_large || code == ErrorCode::unsupported;
}

// The error of a create. How long that gateway has no place, or a backend of its takes, is about
// this create: others may be for smaller sandboxes.
Error refused_by_gateway(Error error) {
  if (error.code == ErrorCode::no_capacity || error.code == ErrorCode::timeout)
    error.retry_after.reset();
  if (!is_for_ever(error.code)) return refused_create(std::move(error));
  error.code = ErrorCode::unsupported;
  error.fields.clear();
  return error;
}

std::string sandbox_path(const std::string& id) { return "/v1/sandboxes/" + percent_encode(id); }

std::string process_path(const std::string& id, const std::string& process) {
  return sandbox_path(id) + "/processes/" + percent_encode(process);
}

}  // namespace

SandgateProvider::SandgateProvider(HttpClient& http, asio::any_io_executor executor,
                                   SandgateSettings settings)
    : api_(http, target_of(settings), &wire::read_error),
      executor_(std::move(executor)),
      profile_(settings.profile),
      descriptor_(
          std::make_shared<const Descriptor>(Descriptor{.provider = "sandgate", .known = false})) {}

Task<void> SandgateProvider::refresh() {
  const Json document = co_await api_.get("/v1/descriptor?profile=" + percent_encode(profile_));
  auto descriptor = std::make_shared<const Descriptor>(wire::to_descriptor(document));
  std::lock_guard lock(mutex_);
  descriptor_.swap(descriptor);
  read_again_at_ = std::chrono::steady_clock::now() + kDescriptorAge;
}

// Failed refreshes back off and are logged once per outage.
void SandgateProvider::note_refresh(const Error* failure) {
  std::lock_guard lock(mutex_);
  const bool told = retry_pause_.count() > 0;
  if (failure && !told)
    log::warn("descriptor not read", {{"provider", "sandgate"}, {"reason", failure->what()}});
  retry_pause_ = failure ? std::clamp(retry_pause_ * 2, kFirstRetry, kLastRetry)
                         : std::chrono::milliseconds(0);
  if (failure) read_again_at_ = std::chrono::steady_clock::now() + retry_pause_;
  if (failure && !descriptor_->known)
    descriptor_ = std::make_shared<const Descriptor>(
        Descriptor{.provider = "sandgate", .known = false, .notes = {kNotReached}});
}

Descriptor SandgateProvider::descriptor() const {
  std::unique_lock lock(mutex_);
  const auto known = descriptor_;
  const bool old = std::chrono::steady_clock::now() > read_again_at_;
  lock.unlock();
  if (old && !refreshing_.exchange(true)) {
    // The refresh changes only the cache, so descriptor() is logically const.
    auto weak = std::const_pointer_cast<SandgateProvider>(shared_from_this());
    spawn_detached(executor_, [weak = std::weak_ptr(weak)]() -> Task<void> {
      const auto self = weak.lock();
      if (!self) co_return;
      const auto outcome = co_await attempt(self->refresh());
      self->note_refresh(std::get_if<Error>(&outcome));
      self->refreshing_ = false;
    });
  }
  return *known;
}

Task<BackendSandbox> SandgateProvider::create(CreateSpec spec) {
  RestCall call{.method = "POST",
                .path = "/v1/sandboxes",
                .json = wire::to_create(spec, profile_),
                .headers = {{"Idempotency-Key", spec.sandbox_id}}};
  ForwardingPath forwarding_path = std::move(spec.forwarding_path);
  if (!spec.installation.empty()) forwarding_path.push_back(spec.installation);
  if (!forwarding_path.empty()) call.headers.emplace_back(kViaHeader, via_of(forwarding_path));
  call.deadline = kCreateDeadline;
  auto calling = api_.call(std::move(call));
  const auto outcome = co_await attempt(std::move(calling));
  if (const auto* error = std::get_if<Error>(&outcome)) throw refused_by_gateway(*error);
  co_return wire::to_created(std::get<Json>(outcome));
}

Task<std::optional<BackendSandbox>> SandgateProvider::find(std::string id) {
  RestCall call{.path = sandbox_path(id)};
  const auto document = co_await api_.find(std::move(call));
  if (!document) co_return std::nullopt;
  BackendSandbox sandbox = wire::to_backend_sandbox(*document);
  if (sandbox.state == BackendState::gone && !sandbox.ended) co_return std::nullopt;
  co_return sandbox;
}

Task<std::optional<BackendSandbox>> SandgateProvider::find_by_tag(std::string sandbox_id) {
  std::string path = kAllSandboxes + ("&metadata.sandgate_id=" + percent_encode(sandbox_id));
  const auto found = co_await list_pages(api_, std::move(path), &wire::to_page);
  for (const auto& sandbox : found)
    if (sandbox.sandbox_id == sandbox_id) co_return sandbox;
  co_return std::nullopt;
}

Task<std::vector<BackendSandbox>> SandgateProvider::list() {
  return list_pages(api_, kAllSandboxes, &wire::to_page);
}

// Only the answers of the protocol count: any other 200 is no proof that the sandbox has ended.
Task<void> SandgateProvider::kill(std::string id) {
  RestCall call{.method = "DELETE", .path = sandbox_path(id)};
  const std::string path = call.path;
  HttpReply reply = co_await api_.send(std::move(call));
  if (reply.status == 204) co_return;
  if (reply.status == 200 || reply.status == 202) {
    auto parsing = api_.parse(std::move(reply.body));
    const Json document = co_await std::move(parsing);
    if (wire::to_backend_sandbox(document).state != BackendState::gone)
      throw unexpected_answer("sandgate");
    // A 200 or 202 may only mean that the wish was recorded, so the end is verified.
    auto looking = find(std::move(id));
    const auto there = co_await std::move(looking);
    if (!there || there->state == BackendState::gone) co_return;
    throw Error(ErrorCode::unavailable, "sandgate reported the end of a sandbox that still exists");
  }
  const Error error = api_.failure(reply, path);
  if (error.code != ErrorCode::not_found) throw error;
}

Task<std::unique_ptr<ProcessStream>> SandgateProvider::exec(std::string id, Command command) {
  const std::string path = sandbox_path(id);
  RestCall call{.method = "POST", .path = path + "/exec", .json = wire::to_exec(command)};
  if (command.once) call.headers.emplace_back("Idempotency-Key", command.process_id);
  if (command.background) {
    const Json document = co_await api_.call(std::move(call));
    co_return process_at(path, text_of(document, "process_id"), nullptr);
  }
  auto events = co_await open_events(api_, std::move(call));
  const auto start = co_await events->next();
  if (start && start->name == "error") wire::to_process_event(*start);
  const Json data = start && start->name == "start" ? parse_record(start->data) : Json();
  if (!data.is_object() || !data.contains("process_id") || !data["process_id"].is_string())
    throw Error(ErrorCode::unavailable, "sandgate did not start the process");
  co_return process_at(path, data["process_id"].get<std::string>(), std::move(events));
}

std::unique_ptr<ProcessStream> SandgateProvider::process_at(std::string path, std::string process,
                                                            std::unique_ptr<EventReader> events) {
  std::unique_lock lock(mutex_);
  const auto known = descriptor_;
  lock.unlock();
  const bool has_stdin = !known->known || known->can(Verb::stdin_);
  return std::make_unique<SandgateProcess>(shared_from_this(), api_, std::move(path),
                                           std::move(process), std::move(events), has_stdin);
}

Task<std::unique_ptr<ProcessStream>> SandgateProvider::attach(std::string id, std::string process,
                                                              uint64_t from) {
  // The query takes a signed number. The largest one is beyond the end there as well.
  const uint64_t offset = std::min<uint64_t>(from, INT64_MAX);
  RestCall call{.path = process_path(id, process) + "/output?from=" + std::to_string(offset)};
  auto events = co_await open_events(api_, std::move(call));
  co_return process_at(sandbox_path(id), process, std::move(events));
}

Task<std::vector<ProcessInfo>> SandgateProvider::processes(std::string id) {
  std::vector<ProcessInfo> all;
  // What ends while the pages are read is listed again, behind what runs.
  std::unordered_map<std::string, size_t> places;
  std::string cursor;
  ListBudget budget("sandgate");
  do {
    RestCall call{.path = sandbox_path(id) + "/processes?limit=100" + cursor,
                  .budget = budget.bytes()};
    budget.take_page(call.path);
    const Json document = co_await api_.call(std::move(call));
    const Json& items = list_of("sandgate", document, "items");
    budget.take_entries(items.size());
    for (const Json& item : items) {
      ProcessInfo process = wire::to_process(item);
      const auto [place, is_new] = places.try_emplace(process.id, all.size());
      if (is_new)
        all.push_back(std::move(process));
      else
        all[place->second] = std::move(process);
    }
    cursor = next_query("cursor", text_of(document, "next_cursor"));
  } while (!cursor.empty());
  co_return all;
}

// A server that implements only a part of the API may have just the list.
Task<ProcessInfo> SandgateProvider::process(std::string id, std::string process) {
  RestCall call{.path = process_path(id, process)};
  const auto document = co_await api_.find(std::move(call));
  if (!document) co_return co_await Provider::process(std::move(id), std::move(process));
  co_return wire::to_process(*document);
}

Task<void> SandgateProvider::signal(std::string id, std::string process, int number) {
  Json body{{"signal", number}};
  co_await api_.post(process_path(id, process) + "/signal", std::move(body));
}

Task<void> SandgateProvider::write_stdin(std::string id, std::string process, std::string bytes) {
  SandgateProcess remote(shared_from_this(), api_, sandbox_path(id), process, nullptr);
  co_await remote.write_stdin(std::move(bytes));
}

Task<void> SandgateProvider::close_stdin(std::string id, std::string process) {
  SandgateProcess remote(shared_from_this(), api_, sandbox_path(id), process, nullptr);
  co_await remote.close_stdin();
}

Task<void> SandgateProvider::resize(std::string id, std::string process, PtySize size) {
  Json body{{"cols", size.cols}, {"rows", size.rows}};
  co_await api_.post(process_path(id, process) + "/resize", std::move(body));
}

Task<SandboxMetrics> SandgateProvider::metrics(std::string id) {
  const Json document = co_await api_.get(sandbox_path(id) + "/metrics");
  co_return wire::to_metrics(document);
}

Task<void> SandgateProvider::extend(std::string id, std::chrono::seconds ttl) {
  Json body{{"ttl_seconds", ttl.count()}};
  const Json document = co_await api_.post(sandbox_path(id) + "/extend", std::move(body));
  if (wire::to_backend_sandbox(document).backend_id != id) throw unexpected_answer("sandgate");
}

}  // namespace sandgate
