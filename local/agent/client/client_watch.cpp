#include "local/agent/client/client.hpp"
#include "local/agent/client/client_connection.hpp"
#include "local/agent/client/client_values.hpp"

namespace sandgate {
namespace {

using agent::ClientConnection;
using agent::Frame;
using agent::FrameType;

constexpr size_t kMaxChanges = 4096;  // of one frame

std::vector<FileChange> changes_of(const Frame& frame) {
  const Json list = agent::checked([&] { return parse_json(frame.payload); });
  if (!list.is_array() || list.size() > kMaxChanges) throw agent::malformed_answer();
  std::vector<FileChange> changes;
  for (const Json& item : list) changes.push_back(agent::to_file_change(item));
  return changes;
}

Task<std::vector<FileChange>> next_changes(std::shared_ptr<ClientConnection> connection) {
  for (;;) {
    const Frame frame = co_await connection->receive();
    if (frame.type == FrameType::end) co_return std::vector<FileChange>();
    if (frame.type != FrameType::items) throw agent::malformed_answer();
    auto changes = changes_of(frame);
    if (!changes.empty()) co_return changes;
  }
}

class AgentWatch : public FileWatch {
 public:
  explicit AgentWatch(std::shared_ptr<ClientConnection> connection)
      : connection_(std::move(connection)) {}
  ~AgentWatch() override { connection_->close(); }

  Task<std::vector<FileChange>> next() override { return next_changes(connection_); }

 private:
  const std::shared_ptr<ClientConnection> connection_;
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
