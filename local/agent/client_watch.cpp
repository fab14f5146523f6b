#include <deque>

#include "local/agent/client.hpp"
#include "local/agent/client_connection.hpp"
#include "local/agent/client_values.hpp"

namespace sandgate {
namespace {

using agent::ClientConnection;
using agent::Frame;
using agent::FrameType;

constexpr size_t kMaxChanges = 4096;  // of one frame

struct WatchState {
  std::shared_ptr<ClientConnection> connection;
  std::deque<FileChange> waiting;  // of the frame received last
  bool ended = false;
};

void take_changes(WatchState& state, const Frame& frame) {
  const Json list = agent::checked([&] { return parse_json(frame.payload); });
  if (!list.is_array() || list.size() > kMaxChanges)
    throw Error(ErrorCode::unavailable, "the sandbox's agent sent something malformed");
  for (const Json& item : list) state.waiting.push_back(agent::to_file_change(item));
}

Task<std::optional<FileChange>> next_change(std::shared_ptr<WatchState> state) {
  while (state->waiting.empty() && !state->ended) {
    const Frame frame = co_await state->connection->receive();
    if (frame.type == FrameType::items)
      take_changes(*state, frame);
    else if (frame.type == FrameType::end)
      state->ended = true;
    else
      throw Error(ErrorCode::unavailable, "the sandbox's agent sent something malformed");
  }
  if (state->waiting.empty()) co_return std::nullopt;
  FileChange change = std::move(state->waiting.front());
  state->waiting.pop_front();
  co_return change;
}

class AgentWatch : public FileWatch {
 public:
  explicit AgentWatch(std::shared_ptr<ClientConnection> connection)
      : state_(std::make_shared<WatchState>()) {
    state_->connection = std::move(connection);
  }
  ~AgentWatch() override { state_->connection->close(); }

  Task<std::optional<FileChange>> next() override { return next_change(state_); }

 private:
  const std::shared_ptr<WatchState> state_;
};

Task<std::unique_ptr<FileWatch>> open_watch(std::string socket, std::string path, bool recursive) {
  Json request{{"path", path}, {"recursive", recursive}};
  auto connection = co_await ClientConnection::open(std::move(socket), "watch", std::move(request));
  co_await connection->receive_reply(agent::kWorkTimeout);
  co_return std::make_unique<AgentWatch>(connection);
}

}  // namespace

Task<std::unique_ptr<FileWatch>> AgentClient::watch(std::string path, bool recursive) const {
  return open_watch(path_, std::move(path), recursive);
}

}  // namespace sandgate
