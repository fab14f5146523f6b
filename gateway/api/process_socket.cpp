#include "gateway/api/process_socket.hpp"

#include <algorithm>

#include "gateway/api/exec_answer.hpp"
#include "gateway/api/exec_request.hpp"
#include "gateway/api/process_input.hpp"
#include "gateway/core/bounded_json.hpp"
#include "gateway/core/json_text.hpp"
#include "gateway/core/settle.hpp"
#include "gateway/http/problem.hpp"

namespace sandgate::api {
namespace {

// How long the error message to a misbehaving client may take.
constexpr std::chrono::seconds kLastWord{5};
constexpr uint16_t kNormalClosure = 1000, kPolicyViolation = 1008, kInternalError = 1011;

Task<void> send(http::WebSocket& socket, std::string type, Json members) {
  members["type"] = std::move(type);
  http::WebSocketMessage message{true, json_text(members)};
  co_await socket.write(std::move(message));
}

// Sends a chunk, after a "gap" if output that was asked for is no longer kept before it.
Task<void> send_chunk(const OutputChunk& chunk, std::optional<uint64_t>& expected,
                      http::WebSocket& socket) {
  const uint64_t begin = chunk.end_offset - std::min(chunk.end_offset, chunk.bytes.size());
  if (expected && begin > *expected) {
    const Json place{{"offset", begin}};
    co_await send(socket, "gap", place);
  }
  if (expected) expected = chunk.end_offset;
  http::WebSocketMessage message{false, std::string(1, static_cast<char>(chunk.channel))};
  message.bytes += chunk.bytes;
  co_await socket.write(std::move(message));
}

// Returns when the process exits, or returns the Error that broke its output.
Task<std::optional<Error>> send_output(ProcessSocket& process, http::WebSocket& socket) {
  const Json start{{"process_id", process.process_id}};
  co_await send(socket, "start", start);
  for (;;) {
    auto outcome = co_await attempt(next_event(process.box, *process.stream));
    if (auto* failure = std::get_if<Error>(&outcome)) co_return std::move(*failure);
    const ProcessEvent& event = std::get<0>(outcome);
    if (const auto* exit = std::get_if<ProcessExit>(&event)) {
      const Json result = to_json(*exit);
      co_await send(socket, "exit", result);
      co_return std::nullopt;
    }
    co_await send_chunk(std::get<OutputChunk>(event), process.from, socket);
  }
}

// Handles a control frame. Ignores failures of an ended process; throws for a malformed frame, and
// for an end of the input that was lost.
Task<void> control(ProcessSocket& process, const std::string& text) {
  Json body = parse_bounded_json(text);
  if (!body.is_object()) throw Error::invalid("", "a control frame is a JSON object");
  const std::string type = body.value("type", Json()).is_string() ? body["type"] : "";
  body.erase("type");
  const auto& box = process.box;
  if (type == "resize") {
    const PtySize size = pty_size_from(body);
    co_await attempt(box.provider->resize(box.backend_id, process.process_id, size));
  } else if (type == "signal") {
    const int number = signal_request_from(body);
    co_await attempt(box.provider->signal(box.backend_id, process.process_id, number));
  } else if (type == "close_stdin") {
    if (!body.empty()) throw Error::invalid("", "close_stdin has no other members");
    auto lost = co_await close_input(*process.stream);
    if (lost) throw *lost;
  } else {
    throw Error::invalid("/type", "must be resize, signal or close_stdin");
  }
}

// Returns when the client disconnects, or returns the Error of a malformed frame or lost input.
Task<std::optional<Error>> take_input(ProcessSocket& process, http::WebSocket& socket) {
  for (;;) {
    auto message = co_await socket.read();
    if (!message) co_return std::nullopt;
    if (message->text) {
      const auto done = co_await attempt(control(process, message->bytes));
      if (const auto* failure = std::get_if<Error>(&done)) co_return *failure;
    } else if (message->bytes.empty() || message->bytes[0] != static_cast<char>(Channel::stdin_)) {
      co_return Error::invalid("", "a binary frame to the server starts with channel 0");
    } else {
      message->bytes.erase(0, 1);
      auto lost = co_await write_input(*process.stream, std::move(message->bytes));
      if (lost) co_return lost;
    }
  }
}

// The end of the sandbox is a normal closure, but its death is not.
uint16_t close_code(const Error& failure, bool output_ended) {
  if (!output_ended && !is_lost_input(failure)) return kPolicyViolation;
  const bool ended = says_ended(failure) && failure.details.at("state") != "failed";
  return ended ? kNormalClosure : kInternalError;
}

Task<void> serve(std::shared_ptr<ProcessSocket> process, http::WebSocket& socket) {
  using namespace asio::experimental::awaitable_operators;
  const auto winner = co_await (send_output(*process, socket) || take_input(*process, socket));
  process->stream.reset();
  const bool output_ended = winner.index() == 0;
  const auto& failure = output_ended ? std::get<0>(winner) : std::get<1>(winner);
  if (failure) {
    const Json problem =
        http::problem_document(*failure, http::status_of(failure->code), process->request_id);
    auto telling = with_timeout(kLastWord, send(socket, "error", problem));
    co_await std::move(telling);
    co_await socket.close(close_code(*failure, output_ended), "");
  } else {
    co_await socket.close(kNormalClosure, "");
  }
}

}  // namespace

http::Response web_socket_of(ProcessSocket socket) {
  auto shared = std::make_shared<ProcessSocket>(std::move(socket));
  http::Response response;
  response.status = 101;
  response.body =
      http::UpgradeBody{[shared](http::WebSocket& peer) { return serve(shared, peer); }};
  return response;
}

}  // namespace sandgate::api
