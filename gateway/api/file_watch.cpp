#include "gateway/api/file_watch.hpp"

#include "gateway/core/json_text.hpp"
#include "gateway/http/event_stream.hpp"

namespace sandgate::api {
namespace {

http::ServerEvent event_of(const FileChange& change) {
  Json data = Json::object();
  if (change.kind != FileChangeKind::overflow)
    data = {{"path", change.path}, {"type", to_string(change.type)}};
  if (change.kind == FileChangeKind::rename) data["from"] = change.from;
  return {std::string(to_string(change.kind)), json_text(data), ""};
}

struct Watched {
  std::unique_ptr<FileWatch> watch;
  OpenSandbox box;
};

Task<void> send_changes(std::shared_ptr<Watched> watched, http::EventWriter& writer) {
  for (;;) {
    auto waiting = translate_failures(watched->box, watched->watch->next());
    const auto changes = co_await std::move(waiting);
    if (changes.empty()) co_return;
    std::vector<http::ServerEvent> events;
    for (const FileChange& change : changes) events.push_back(event_of(change));
    co_await writer.send_all(events);
  }
}

}  // namespace

http::Response watch_stream_of(std::unique_ptr<FileWatch> watch, OpenSandbox box,
                               const std::string& request_id) {
  auto watched = std::make_shared<Watched>(std::move(watch), std::move(box));
  http::EventStreamOptions options;
  options.request_id = request_id;
  return http::event_stream(std::move(options), [watched](http::EventWriter& writer) {
    return send_changes(watched, writer);
  });
}

}  // namespace sandgate::api
