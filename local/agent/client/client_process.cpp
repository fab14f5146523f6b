#include "local/agent/client/client.hpp"
#include "local/agent/client/client_connection.hpp"
#include "local/agent/client/client_values.hpp"

namespace sandgate {
namespace {

using agent::ClientConnection;
using agent::Frame;
using agent::FrameType;

// Shared with suspended coroutines, which may outlive the stream object.
struct StreamState {
  std::shared_ptr<ClientConnection> connection;
  uint64_t offset = 0;  // after the last output received
  bool ended = false;
};
using StreamHandle = std::shared_ptr<StreamState>;

ProcessEvent to_event(StreamState& state, const Frame& frame) {
  return agent::checked([&]() -> ProcessEvent {
    if (frame.type == FrameType::exit) {
      state.ended = true;
      return agent::to_process_exit(parse_json(frame.payload));
    }
    if (frame.type != FrameType::output)
      throw Error(ErrorCode::invalid, "a frame that no process sends");
    const agent::Output output = agent::parse_output(frame.payload);
    if (output.end_offset - output.bytes.size() < state.offset)
      throw Error(ErrorCode::invalid, "output that goes back");
    state.offset = output.end_offset;
    return OutputChunk{static_cast<Channel>(output.channel), std::string(output.bytes),
                       output.end_offset};
  });
}

Task<std::optional<ProcessEvent>> next_event(StreamHandle state) {
  if (state->ended) co_return std::nullopt;
  const Frame frame = co_await state->connection->receive();
  ProcessEvent event = to_event(*state, frame);
  if (state->ended) state->connection->close();
  co_return event;
}

// Ignores a failed send: when the process has ended or the connection broke, next() reports it.
Task<void> send_input(StreamHandle state, std::string bytes) {
  if (!state->ended) co_await state->connection->send_bytes(bytes);
}

Task<void> send_end(StreamHandle state) {
  if (!state->ended) co_await state->connection->send_end();
}

class AgentProcessStream : public ProcessStream {
 public:
  explicit AgentProcessStream(StreamHandle state) : state_(std::move(state)) {}
  ~AgentProcessStream() override { state_->connection->close(); }

  Task<std::optional<ProcessEvent>> next() override { return next_event(state_); }
  Task<void> write_stdin(std::string bytes) override {
    return send_input(state_, std::move(bytes));
  }
  Task<void> close_stdin() override { return send_end(state_); }

 private:
  const StreamHandle state_;
};

Task<std::unique_ptr<ProcessStream>> open_stream(std::string path, std::string operation,
                                                 Json request) {
  auto state = std::make_shared<StreamState>();
  state->connection =
      co_await ClientConnection::open(std::move(path), std::move(operation), std::move(request));
  const Json started = co_await state->connection->receive_reply(agent::kWorkTimeout);
  agent::checked([&] {
    Problems problems;
    ObjectReader reader(started, problems);
    state->offset = static_cast<uint64_t>(reader.integer("offset", 0, INT64_MAX).value_or(0));
    problems.throw_if_any();
    return true;
  });
  co_return std::make_unique<AgentProcessStream>(std::move(state));
}

Json to_request(const Command& command) {
  Json request{{"process", command.process_id},
               {"cwd", command.cwd},
               {"env", command.env},
               {"user", command.user},
               {"timeout_ms", command.timeout.count()},
               {"background", command.background},
               {"keep", command.keep_on_disconnect || command.background}};
  if (command.shell.empty())
    request["argv"] = command.argv;
  else
    request["shell"] = command.shell;
  if (command.pty) request["pty"] = {{"cols", command.pty->cols}, {"rows", command.pty->rows}};
  return request;
}

}  // namespace

Task<std::unique_ptr<ProcessStream>> AgentClient::exec(Command command) const {
  return open_stream(path_, "exec", to_request(command));
}

Task<std::unique_ptr<ProcessStream>> AgentClient::attach(std::string process, uint64_t from) const {
  const auto offset = static_cast<int64_t>(std::min<uint64_t>(from, INT64_MAX));
  return open_stream(path_, "attach", {{"process", process}, {"from", offset}});
}

}  // namespace sandgate
