#include "local/agent/client/client.hpp"
#include "local/agent/client/client_connection.hpp"
#include "local/agent/client/client_values.hpp"

namespace sandgate {
namespace {

using agent::ClientConnection;
using agent::Frame;
using agent::FrameType;

constexpr size_t kMaxEntries = 100'000;
constexpr uint32_t kPermissions = 0777;
constexpr size_t kLookEvery = 256;  // frames: 16 MiB

// Reports once, at the first call that finds it so, that disk space is scarce.
struct Scarcity {
  std::function<bool()> scarce;
  bool told = false;

  bool begins() {
    const bool now = !told && scarce && scarce();
    told = told || now;
    return now;
  }
};

struct DownloadState {
  std::shared_ptr<ClientConnection> connection;
  std::string_view waiting;  // of the frame received last
  std::optional<uint64_t> left;  // bytes promised and still to come; empty: unknown
  bool ended = false;
};

void take_frame(DownloadState& state, const Frame& frame) {
  if (frame.type == FrameType::end) {
    state.ended = true;
    if (state.left.value_or(0) > 0)
      throw Error(ErrorCode::unavailable, "the file became shorter while it was read");
    return;
  }
  if (frame.type != FrameType::bytes || (state.left && *state.left < frame.payload.size()))
    throw agent::malformed_answer();
  if (state.left) *state.left -= frame.payload.size();
  state.waiting = frame.payload;
}

Task<size_t> read_some(std::shared_ptr<DownloadState> state, std::span<char> into) {
  while (state->waiting.empty() && !state->ended) {
    const Frame frame = co_await state->connection->receive();
    take_frame(*state, frame);
  }
  const size_t count = std::min(into.size(), state->waiting.size());
  state->waiting.copy(into.data(), count);
  state->waiting.remove_prefix(count);
  co_return count;
}

// A ByteSource over the bytes frames of a connection.
class Download : public ByteSource {
 public:
  Download(std::shared_ptr<ClientConnection> connection, std::optional<uint64_t> expected)
      : state_(std::make_shared<DownloadState>()) {
    state_->connection = std::move(connection);
    state_->left = expected;
  }
  ~Download() override { state_->connection->close(); }

  Task<size_t> read(std::span<char> into) override { return read_some(state_, into); }

 private:
  const std::shared_ptr<DownloadState> state_;
};

uint64_t expected_bytes(const FileEntry& entry, const ByteRange& range) {
  const uint64_t size = entry.size;
  if (range.first >= size) return 0;
  const uint64_t end = range.last && *range.last < size - 1 ? *range.last + 1 : size;
  return end > range.first ? end - range.first : 0;
}

Json to_request(const std::string& path, const ByteRange& range) {
  const auto clamp = [](uint64_t value) {
    return static_cast<int64_t>(std::min<uint64_t>(value, INT64_MAX));
  };
  Json request{{"path", path}, {"offset", clamp(range.first)}};
  if (range.last && *range.last < UINT64_MAX)
    request["length"] = clamp(*range.last >= range.first ? *range.last - range.first + 1 : 0);
  return request;
}

Task<FileContent> open_file(std::string socket, std::string path, ByteRange range) {
  auto connection =
      co_await ClientConnection::open(std::move(socket), "read", to_request(path, range));
  const Json answer = co_await connection->receive_reply();
  FileContent content;
  content.entry = agent::to_file_entry(answer);
  content.bytes = std::make_unique<Download>(connection, expected_bytes(content.entry, range));
  co_return content;
}

Task<std::unique_ptr<ByteSource>> open_archive(std::string socket, std::string path) {
  Json request{{"path", path}};
  auto connection =
      co_await ClientConnection::open(std::move(socket), "archive_read", std::move(request));
  co_await connection->receive_tree_reply();
  co_return std::make_unique<Download>(connection, std::nullopt);
}

Task<std::vector<FileEntry>> ask_list(std::string socket, std::string path, int depth) {
  Json request{{"path", path}, {"depth", depth}};
  const auto connection =
      co_await ClientConnection::open(std::move(socket), "list", std::move(request));
  co_await connection->receive_tree_reply(agent::kReplyTimeout);
  co_return co_await connection->receive_items(kMaxEntries, agent::to_file_entry);
}

// Streams the source once the agent has accepted the request. Returns the final reply.
Task<Json> upload(std::string socket, std::string operation, Json request, ByteSource* source,
                  std::function<bool()> scarce) {
  const auto connection =
      co_await ClientConnection::open(std::move(socket), std::move(operation), std::move(request));
  co_await connection->receive_reply();
  std::vector<char> buffer(agent::kHeaderBytes + agent::kMaxPayload);
  const std::string settle = agent::frame(FrameType::bytes, "");
  Scarcity scarcity{std::move(scarce)};
  bool taken = true;
  for (size_t count = 0; taken; ++count) {
    if (count % kLookEvery == 0 && scarcity.begins()) taken = co_await connection->send(settle);
    const std::span<char> room(buffer.data() + agent::kHeaderBytes, agent::kMaxPayload);
    const size_t got = co_await source->read(room);
    if (got == 0) break;
    agent::put_header(buffer.data(), FrameType::bytes, got);
    const std::string_view frame(buffer.data(), agent::kHeaderBytes + got);
    taken = co_await connection->send(frame);
  }
  if (taken && scarcity.begins()) taken = co_await connection->send(settle);
  if (taken) co_await connection->send_end();
  co_return co_await connection->receive_reply(agent::kWorkTimeout);
}

Task<FileEntry> upload_file(std::string socket, std::string path, uint32_t mode, ByteSource* source,
                            std::function<bool()> scarce) {
  Json request{{"path", path}, {"mode", mode & kPermissions}};
  auto uploading =
      upload(std::move(socket), "write", std::move(request), source, std::move(scarce));
  const Json answer = co_await std::move(uploading);
  co_return agent::to_file_entry(answer);
}

Task<void> upload_archive(std::string socket, std::string path, ByteSource* source,
                          std::function<bool()> scarce) {
  Json request{{"path", path}};
  auto uploading =
      upload(std::move(socket), "archive_write", std::move(request), source, std::move(scarce));
  co_await std::move(uploading);
}

}  // namespace

Task<FileContent> AgentClient::read_file(std::string path, ByteRange range) const {
  return open_file(path_, std::move(path), range);
}

Task<FileEntry> AgentClient::write_file(std::string path, uint32_t mode, ByteSource& bytes) const {
  return upload_file(path_, std::move(path), mode, &bytes, scarce_);
}

Task<std::vector<FileEntry>> AgentClient::list_files(std::string path, int depth) const {
  return ask_list(path_, std::move(path), depth);
}

Task<std::unique_ptr<ByteSource>> AgentClient::read_archive(std::string path) const {
  return open_archive(path_, std::move(path));
}

Task<void> AgentClient::write_archive(std::string path, ByteSource& tar) const {
  return upload_archive(path_, std::move(path), &tar, scarce_);
}

}  // namespace sandgate
