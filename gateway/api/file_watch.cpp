#include "gateway/api/file_watch.hpp"

#include "gateway/http/event_stream.hpp"

namespace sandgate::api {
namespace {

http::ServerEvent event_of(const FileChange& change) {
  Json data = Json::object();
  if (change.kind != FileChangeKind::overflow)
    data = {{"path", change.path}, {"type", change.directory ? "directory" : "file"}};
  if (change.kind == FileChangeKind::rename) data["from"] = change.from;
  return {std::string(to_string(change.kind)),
          data.dump(-1, ' ', false, Json::error_handler_t::replace), ""};
}

Task<void> send_changes(std::shared_ptr<FileWatch> watch, http::EventWriter& writer) {
  for (;;) {
    const auto change = co_await watch->next();
    if (!change) co_return;
    http::ServerEvent event = event_of(*change);
    co_await writer.send(std::move(event));
  }
}

}  // namespace

http::Response watch_stream_of(std::unique_ptr<FileWatch> watch, std::shared_ptr<void> activity,
                               const std::string& request_id) {
  std::shared_ptr<FileWatch> shared = std::move(watch);
  http::EventStreamOptions options;
  options.request_id = request_id;
  return http::event_stream(std::move(options), [shared, activity](http::EventWriter& writer) {
    return send_changes(shared, writer);
  });
}

}  // namespace sandgate::api
