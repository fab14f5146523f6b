#include "gateway/api/process_events.hpp"

#include "gateway/api/exec_answer.hpp"
#include "gateway/core/crypto.hpp"
#include "gateway/core/settle.hpp"
#include "gateway/http/problem.hpp"
#include "gateway/http/shared_sink.hpp"

namespace sandgate::api {
namespace {

// Proxies commonly close a connection that was silent for 60 s.
constexpr auto kKeepAlive = std::chrono::seconds(15);
constexpr const char* kSignOfLife = ":\n\n";

std::string event_text(std::string_view name, const Json& data) {
  return "event: " + std::string(name) + "\ndata: " + data.dump() + "\n\n";
}

std::string chunk_text(const OutputChunk& chunk, bool pty) {
  const std::string_view name = pty                                 ? "pty"
                                : chunk.channel == Channel::stderr_ ? "stderr"
                                                                    : "stdout";
  // Built by hand: base64 needs no escaping, and this is the one hot line of a long stream.
  return "event: " + std::string(name) + "\nid: " + std::to_string(chunk.end_offset) +
         "\ndata: {\"data\":\"" + base64_encode(chunk.bytes) + "\"}\n\n";
}

std::string error_text(const Error& error, const std::string& request_id) {
  return event_text("error",
                    http::problem_document(error, http::status_of(error.code), request_id));
}

Task<void> show(const ProcessEvents& events, http::SharedSink& out, std::string text) {
  auto writing = out.write(std::move(text));
  if (events.patience) writing = within(*events.patience, std::move(writing));
  co_await std::move(writing);
}

Task<std::monostate> pump(const ProcessEvents& events, http::SharedSink& out) {
  std::string start = event_text("start", {{"process_id", events.process_id}});
  auto starting = show(events, out, std::move(start));
  co_await std::move(starting);
  for (;;) {
    const auto outcome = co_await attempt(next_event(events.box, *events.stream));
    std::string text;
    bool last = true;
    if (const auto* failure = std::get_if<Error>(&outcome)) {
      text = error_text(*failure, events.request_id);
    } else if (const ProcessEvent& event = std::get<0>(outcome);
               const auto* chunk = std::get_if<OutputChunk>(&event)) {
      text = chunk_text(*chunk, events.pty);
      last = false;
    } else {
      text = event_text("exit", to_json(std::get<ProcessExit>(event)));
    }
    auto showing = show(events, out, std::move(text));
    co_await std::move(showing);
    if (last) co_return std::monostate{};
  }
}

Task<void> produce(std::shared_ptr<ProcessEvents> events, http::BodySink& sink) {
  http::SharedSink out(sink, co_await asio::this_coro::executor);
  auto writing = with_companion(pump(*events, out), out.keep_alive(kKeepAlive, kSignOfLife));
  if (events->input)
    writing = with_companion(std::move(writing), feed(*events->stream, *events->input));
  co_await std::move(writing);
  events->stream.reset();
}

}  // namespace

Task<void> feed(ProcessStream& stream, std::string bytes) {
  // In pieces, so that what waits inside a backend stays small.
  constexpr size_t kPiece = 64 << 10;
  for (size_t at = 0; at < bytes.size(); at += kPiece) {
    const auto written = co_await attempt(stream.write_stdin(bytes.substr(at, kPiece)));
    if (std::holds_alternative<Error>(written)) co_return;
  }
  co_await attempt(stream.close_stdin());
}

http::Response event_stream_of(ProcessEvents events) {
  auto shared = std::make_shared<ProcessEvents>(std::move(events));
  http::Response response;
  response.content_type = "text/event-stream";
  response.headers = {{"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}};
  response.body = http::StreamBody{
      std::nullopt, [shared](http::BodySink& sink) { return produce(shared, sink); }};
  return response;
}

}  // namespace sandgate::api
