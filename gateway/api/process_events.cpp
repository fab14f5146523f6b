#include "gateway/api/process_events.hpp"

#include <algorithm>
#include <array>

#include "gateway/api/exec_answer.hpp"
#include "gateway/api/process_input.hpp"
#include "gateway/core/crypto.hpp"
#include "gateway/core/json_text.hpp"
#include "gateway/core/settle.hpp"
#include "gateway/http/problem.hpp"
#include "gateway/http/shared_sink.hpp"

namespace sandgate::api {
namespace {

// Proxies commonly close a connection after 60 s of silence.
constexpr auto kKeepAlive = std::chrono::seconds(15);
constexpr const char* kSignOfLife = ":\n\n";

std::string event_text(std::string_view name, const Json& data) {
  return "event: " + std::string(name) + "\ndata: " + json_text(data) + "\n\n";
}

std::string exit_text(const Json& exit, bool reconnects) {
  const std::string id = reconnects ? "id: " + std::to_string(kExitId) + "\n" : "";
  return id + event_text("exit", exit);
}

std::string chunk_text(const OutputChunk& chunk, bool pty) {
  const std::string_view name = pty                                 ? "pty"
                                : chunk.channel == Channel::stderr_ ? "stderr"
                                                                    : "stdout";
  // Built by hand, as base64 needs no escaping: this is the hot path of a long stream.
  return "event: " + std::string(name) + "\nid: " + std::to_string(chunk.end_offset) +
         "\ndata: {\"data\":\"" + base64_encode(chunk.bytes) + "\"}\n\n";
}

std::string error_text(const Error& error, const std::string& request_id) {
  return event_text("error",
                    http::problem_document(error, http::status_of(error.code), request_id));
}

// Limits the output that is sent to the client.
class OutputLimit {
 public:
  explicit OutputLimit(std::optional<size_t> max_bytes) : left_{max_bytes, max_bytes} {}

  // Cuts the chunk to the remaining limit, possibly to nothing, and adjusts its offset.
  void trim(OutputChunk& chunk) {
    auto& left = left_[chunk.channel == Channel::stderr_ ? 1 : 0];
    if (!left) return;
    const size_t kept = std::min(*left, chunk.bytes.size());
    truncated_ = truncated_ || kept < chunk.bytes.size();
    chunk.end_offset -= chunk.bytes.size() - kept;
    chunk.bytes.resize(kept);
    *left -= kept;
  }
  // The exit event's data.
  Json exit_json(const ProcessExit& exit) const {
    Json json = to_json(exit);
    if (left_[0]) json["truncated"] = truncated_;
    return json;
  }

 private:
  std::array<std::optional<size_t>, 2> left_;
  bool truncated_ = false;
};

Task<void> send_text(const ProcessEvents& events, http::SharedSink& out, std::string text) {
  auto writing = out.write(std::move(text));
  if (events.patience) writing = within(*events.patience, std::move(writing));
  co_await std::move(writing);
}

Task<void> pump(const ProcessEvents& events, ProcessWithInput& process, http::SharedSink& out) {
  std::string start = event_text("start", {{"process_id", events.process_id}});
  auto starting = send_text(events, out, std::move(start));
  co_await std::move(starting);
  OutputLimit limit(events.max_bytes);
  for (;;) {
    auto outcome = co_await attempt(next_event(events.box, process));
    std::string text;
    bool last = true;
    if (const auto* failure = std::get_if<Error>(&outcome)) {
      text = error_text(*failure, events.request_id);
    } else if (ProcessEvent& event = std::get<0>(outcome);
               auto* chunk = std::get_if<OutputChunk>(&event)) {
      limit.trim(*chunk);
      if (chunk->bytes.empty()) continue;
      text = chunk_text(*chunk, events.pty);
      last = false;
    } else {
      text = exit_text(limit.exit_json(std::get<ProcessExit>(event)), events.reconnects);
    }
    auto sending = send_text(events, out, std::move(text));
    co_await std::move(sending);
    if (last) co_return;
  }
}

Task<void> produce(std::shared_ptr<ProcessEvents> events, http::BodySink& sink) {
  http::SharedSink out(sink, co_await asio::this_coro::executor);
  ProcessWithInput process(*events->stream, co_await asio::this_coro::executor,
                           std::move(events->input));
  auto writing =
      with_companion(pump(*events, process, out), out.keep_alive(kKeepAlive, kSignOfLife));
  if (process.has_input()) writing = with_companion(std::move(writing), process.run());
  co_await std::move(writing);
  events->stream.reset();
}

}  // namespace

http::Response event_stream_of(ProcessEvents events) {
  auto shared = std::make_shared<ProcessEvents>(std::move(events));
  http::Response response = http::Response::streaming("text/event-stream");
  response.body = http::StreamBody{
      std::nullopt, [shared](http::BodySink& sink) { return produce(shared, sink); }};
  return response;
}

}  // namespace sandgate::api
