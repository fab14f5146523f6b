#include "gateway/compat/e2b/filesystem.hpp"

#include "gateway/api/with_failure_cause.hpp"
#include "gateway/compat/e2b/account.hpp"
#include "gateway/compat/e2b/file_wire.hpp"
#include "gateway/compat/e2b/link_targets.hpp"
#include "gateway/compat/e2b/rpc.hpp"

namespace sandgate::compat::e2b {
namespace {

constexpr int64_t kMaxDepth = 64;
constexpr size_t kMaxEntries = 10'000;  // per answer

const SandboxId& sandbox_of(const http::Request& request) { return *request.caller.sandbox; }

std::string path_member(const Json& message, const char* name) {
  const auto found = message.find(name);
  const std::string field = std::string("/") + name;
  if (found == message.end() || !found->is_string()) throw Error::invalid(field, "is required");
  return path_from(found->get_ref<const std::string&>(), field);
}

// A missing path is the home: clients leave out what is empty.
std::string place_member(const Json& message) {
  return has_member(message, "path") ? path_member(message, "path") : path_from("");
}

std::string text_member(const Json& message, const char* name) {
  const auto found = message.find(name);
  return found != message.end() && found->is_string() ? found->get<std::string>() : "";
}

Task<http::Response> entry_answer(OpenSandbox box, FileEntry entry) {
  const std::vector<FileEntry> alone{entry};
  const auto ends = co_await link_targets(box, alone);
  co_return http::Response::json(200, {{"entry", entry_json(entry, ends.front())}});
}

// Connect has a code for this case, which is not an error in our API.
http::Response exists_already() {
  const Json told{{"code", "already_exists"}, {"message", "the directory is there already"}};
  return http::Response::json(409, told);
}

}  // namespace

// A directory that is watched; names in events are relative to it.
struct Filesystem::Watched {
  OpenSandbox box;
  std::unique_ptr<FileWatch> watch;
  std::string directory;
};

Task<OpenSandbox> Filesystem::open(const http::Request& request, Verb verb) {
  check_own_account(request);
  return access_.open(request.caller, sandbox_of(request).value, verb);
}

Task<http::Response> Filesystem::stat(http::Request& request) {
  const std::string path = place_member(message_of(request));
  const OpenSandbox box = co_await open(request, Verb::files);
  const FileEntry entry = co_await box.provider->stat(box.backend_id, path);
  co_return co_await entry_answer(box, entry);
}

Task<http::Response> Filesystem::make_directory(http::Request& request) {
  const std::string path = path_member(message_of(request), "path");
  const OpenSandbox box = co_await open(request, Verb::files);
  const auto there = co_await target_of(box, path);
  if (there && there->type == FileType::directory) co_return exists_already();
  if (there) throw Error::invalid("/path", "exists and is not a directory");
  const FileEntry made = co_await box.provider->make_directory(box.backend_id, path);
  co_return co_await entry_answer(box, made);
}

Task<http::Response> Filesystem::move(http::Request& request) {
  const Json message = message_of(request);
  const std::string from = path_member(message, "source"), to = path_member(message, "destination");
  const OpenSandbox box = co_await open(request, Verb::files);
  const FileEntry moved = co_await box.provider->move(box.backend_id, from, to);
  co_return co_await entry_answer(box, moved);
}

Task<http::Response> Filesystem::list(http::Request& request) {
  const Json message = message_of(request);
  const std::string path = place_member(message);
  const int64_t depth = std::max<int64_t>(1, number_of(message, "depth"));
  if (depth > kMaxDepth) throw Error::invalid("/depth", "must be at most 64");
  const OpenSandbox box = co_await open(request, Verb::files);
  const auto entries =
      co_await box.provider->list_files(box.backend_id, path, static_cast<int>(depth));
  if (entries.size() > kMaxEntries)
    throw Error(ErrorCode::too_large, depth > 1
                                          ? "more than 10000 entries: list a smaller depth"
                                          : "more than 10000 entries: run `ls` or `find` in it");
  Json items = Json::array();
  const auto ends = co_await link_targets(box, entries);
  for (size_t i = 0; i < entries.size(); ++i) items.push_back(entry_json(entries[i], ends[i]));
  co_return http::Response::json(200, {{"entries", std::move(items)}});
}

Task<http::Response> Filesystem::remove(http::Request& request) {
  const std::string path = path_member(message_of(request), "path");
  const OpenSandbox box = co_await open(request, Verb::files);
  auto removing = box.provider->remove(box.backend_id, path, /*recursive=*/true);
  const auto outcome = co_await attempt(std::move(removing));
  const auto* error = std::get_if<Error>(&outcome);
  // A missing path counts as removed, unless the sandbox itself is missing.
  const bool missing = error && error->code == ErrorCode::not_found;
  if (missing) co_await box.provider->stat(box.backend_id, ".");
  if (error && !missing) throw *error;
  co_return http::Response::json(200, Json::object());
}

Task<std::shared_ptr<Filesystem::Watched>> Filesystem::begin_watch(const http::Request& request,
                                                                   const Json& message) {
  const std::string path = place_member(message);
  const bool recursive = is_recursive_watch(message);
  auto watched = std::make_shared<Watched>();
  watched->box = co_await open(request, Verb::watch);
  const OpenSandbox& box = watched->box;
  const FileEntry entry = co_await box.provider->stat(box.backend_id, path);
  watched->directory = entry.path;
  watched->watch = co_await box.provider->watch(box.backend_id, path, recursive);
  co_return watched;
}

Task<http::Response> Filesystem::watch(http::Request& request) {
  const Json message = message_of(request);
  const auto watched = co_await begin_watch(request, message);
  MessageStream stream;
  stream.keep_alive_message = {{"keepalive", Json::object()}};
  stream.interval = ping_interval_of(request);
  stream.limit = timeout_of(request);
  stream.request_id = request.id;
  stream.produce = [watched](MessageWriter& out) -> Task<void> {
    const Json first{{"start", Json::object()}};
    co_await out.send(first);
    for (;;) {
      auto waiting = translate_failures(watched->box, watched->watch->next());
      const auto changes = co_await std::move(waiting);
      if (changes.empty()) co_return;
      std::vector<Json> messages;
      for (const FileChange& change : changes)
        for (Json& event : change_events(change, watched->directory))
          messages.push_back({{"filesystem", std::move(event)}});
      co_await out.send_all(messages);
    }
  };
  co_return message_stream(std::move(stream));
}

Task<http::Response> Filesystem::create_watcher(http::Request& request) {
  const Json message = message_of(request);
  auto permit = admission_.open_stream(request.caller);
  const auto watched = co_await begin_watch(request, message);
  const auto executor = co_await asio::this_coro::executor;
  const std::string id = watchers_.add(executor, watched->box, std::move(watched->watch),
                                       watched->directory, std::move(permit));
  co_return http::Response::json(200, {{"watcherId", id}});
}

Task<http::Response> Filesystem::watcher_events(http::Request& request) {
  co_await open(request, Verb::watch);
  const std::string id = text_member(message_of(request), "watcherId");
  Json events = Json::array();
  for (Json& event : watchers_.take(sandbox_of(request), id)) events.push_back(std::move(event));
  co_return http::Response::json(200, {{"events", std::move(events)}});
}

Task<http::Response> Filesystem::remove_watcher(http::Request& request) {
  check_own_account(request);
  watchers_.remove(sandbox_of(request), text_member(message_of(request), "watcherId"));
  co_return http::Response::json(200, Json::object());
}

void Filesystem::add_routes(http::Routes& routes) {
  using Answer = Task<http::Response> (Filesystem::*)(http::Request&);
  const auto add = [&](std::string method, Answer answer) {
    routes.add({.method = http::Method::post,
                .pattern = "/filesystem.Filesystem/" + method,
                .permission = http::Permission::use_sandboxes,
                .body = http::BodyMode::buffered,
                .handler = [this, answer](http::Request& r) {
                  r.params["id"] = sandbox_of(r).value;
                  return api::with_failure_cause(access_, r, (this->*answer)(r));
                }});
  };
  add("Stat", &Filesystem::stat);
  add("MakeDir", &Filesystem::make_directory);
  add("Move", &Filesystem::move);
  add("ListDir", &Filesystem::list);
  add("Remove", &Filesystem::remove);
  add("WatchDir", &Filesystem::watch);
  add("CreateWatcher", &Filesystem::create_watcher);
  add("GetWatcherEvents", &Filesystem::watcher_events);
  add("RemoveWatcher", &Filesystem::remove_watcher);
}

}  // namespace sandgate::compat::e2b
