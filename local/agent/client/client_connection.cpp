#include "local/agent/client/client_connection.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "gateway/core/settle.hpp"
#include "gateway/core/unix_dial.hpp"
#include "local/agent/files/file.hpp"
#include "local/fd_passing.hpp"

namespace sandgate::agent {
namespace {

using Endpoint = asio::local::stream_protocol::endpoint;
constexpr auto kAsTuple = asio::as_tuple(asio::use_awaitable);

constexpr size_t kReceiveBytes = 512 * 1024;
constexpr size_t kMaxSocketPath = 107;
constexpr size_t kMaxMessage = 500;
constexpr int kMaxSigns = 1000;  // that work goes on; agents send six a minute

// The error codes accepted from an agent; others would let a sandbox speak for the gateway.
constexpr std::array kAgentCodes{
    ErrorCode::invalid,   ErrorCode::forbidden,      ErrorCode::not_found,   ErrorCode::conflict,
    ErrorCode::too_large, ErrorCode::quota_exceeded, ErrorCode::unavailable, ErrorCode::unsupported,
};

Error error_of(std::string_view payload) {
  return checked([&] {
    Problems problems;
    const Json document = parse_json(payload);
    ObjectReader reader(document, problems);
    const auto code = error_code_from(reader.text("code").value_or(""));
    const std::string message = reader.text("message", {.max = kMaxPayload}).value_or("");
    const auto path = reader.text("path");  // "" is the body as a whole
    problems.throw_if_any();
    const std::string shown = message.substr(0, kMaxMessage);
    if (!code || std::find(kAgentCodes.begin(), kAgentCodes.end(), *code) == kAgentCodes.end())
      return Error(ErrorCode::unavailable, "the sandbox's agent failed");
    if (!path || *code != ErrorCode::invalid) return Error(*code, shown);
    return Error(*code, shown, {{*path, shown}});
  });
}

Error broken() {
  return Error(ErrorCode::unavailable, "the connection to the sandbox's agent broke");
}

// The address of a socket. A path too long for a socket address is reached through a descriptor of
// its directory.
struct Dial {
  explicit Dial(const std::string& path) {
    if (path.size() <= kMaxSocketPath) {
      endpoint = Endpoint(path);
      return;
    }
    const size_t slash = path.rfind('/');
    const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    directory = Fd(::open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    const std::string name = path.substr(slash == std::string::npos ? 0 : slash + 1);
    const std::string reached = fd_path(directory) + "/" + name;
    if (!directory || reached.size() > kMaxSocketPath)
      throw agent_missing("the sandbox's agent is not there");
    endpoint = Endpoint(reached);
  }

  Fd directory;
  Endpoint endpoint;
};

std::string request_text(const std::string& operation, Json& request) {
  request["protocol"] = kProtocolVersion;
  request["operation"] = operation;
  try {
    return request.dump();
  } catch (const Json::exception&) {
    throw Error(ErrorCode::invalid, "a text is not valid UTF-8");
  }
}

// Receives bytes with at most one descriptor. Returns -1 when nothing is pending, 0 on failure.
ssize_t receive_beside(int socket, std::span<char> into, Fd& beside) {
  FdMessage received = receive_with_fds(socket, into, MSG_DONTWAIT);
  if (received.size < 0) return errno == EAGAIN ? -1 : 0;
  if (Fd first = received.first_fd()) beside = std::move(first);
  return received.size;
}

Task<void> dial(asio::local::stream_protocol::socket& socket, const Dial& target) {
  auto dialling = dial_unix(socket, target.endpoint);
  const boost::system::error_code failure = co_await std::move(dialling);
  if (failure == asio::error::operation_aborted) throw boost::system::system_error(failure);
  if (failure == boost::system::errc::no_such_file_or_directory ||
      failure == asio::error::connection_refused)
    throw agent_missing("the sandbox's agent is not there");
  if (failure) throw Error(ErrorCode::unavailable, "the sandbox's agent cannot be reached");
}

}  // namespace

ClientConnection::ClientConnection(const asio::any_io_executor& executor)
    : socket_(executor), parser_(kReceiveBytes) {}

Task<std::shared_ptr<ClientConnection>> ClientConnection::open(std::string socket_path,
                                                               std::string operation,
                                                               Json request) {
  const std::string frames = request_frames(request_text(operation, request));
  const Dial target(socket_path);
  auto connection = std::make_shared<ClientConnection>(co_await asio::this_coro::executor);
  co_await dial(connection->socket_, target);
  boost::system::error_code ignored;
  connection->socket_.set_option(asio::socket_base::send_buffer_size(kSocketBytes), ignored);
  co_await connection->send(frames);
  co_return connection;
}

Task<Frame> ClientConnection::receive() {
  while (true) {
    const auto frame = checked([&] { return parser_.next(); });
    if (frame && frame->type == FrameType::error) throw error_of(frame->payload);
    if (frame) co_return *frame;
    const std::span<char> room = checked([&] { return parser_.prepare(); });
    const auto [failure, got] =
        co_await socket_.async_read_some(asio::buffer(room.data(), room.size()), kAsTuple);
    if (failure == asio::error::operation_aborted && !closed_)
      throw boost::system::system_error(failure);
    if (failure || got == 0) throw broken();
    parser_.commit(got);
  }
}

Task<Frame> ClientConnection::receive_within(std::chrono::seconds timeout) {
  auto receiving = receive();
  auto waiting = within(timeout, std::move(receiving));
  co_return co_await std::move(waiting);
}

Task<Json> ClientConnection::receive_reply(std::chrono::seconds timeout) {
  const Frame frame = co_await receive_within(timeout);
  if (frame.type != FrameType::reply) throw broken();
  co_return checked([&] { return parse_json(frame.payload); });
}

Task<Json> ClientConnection::receive_tree_reply(std::chrono::seconds silence) {
  const auto end = std::chrono::steady_clock::now() + kTreeTimeout;
  for (int signs = 0; signs < kMaxSigns && std::chrono::steady_clock::now() < end; ++signs) {
    const Frame frame = co_await receive_within(silence);
    if (frame.type == FrameType::bytes && frame.payload.empty()) continue;
    if (frame.type != FrameType::reply) throw broken();
    co_return checked([&] { return parse_json(frame.payload); });
  }
  throw Error(ErrorCode::timeout, "the work on the files takes too long");
}

Task<Fd> ClientConnection::receive_descriptor() {
  Fd beside;
  for (;;) {
    const auto frame = checked([&] { return parser_.next(); });
    if (frame && frame->type == FrameType::error) throw error_of(frame->payload);
    if (frame && (frame->type != FrameType::reply || !beside)) throw broken();
    if (frame) co_return beside;
    const auto [failure] =
        co_await socket_.async_wait(asio::local::stream_protocol::socket::wait_read, kAsTuple);
    if (failure) throw boost::system::system_error(failure);
    const std::span<char> room = checked([&] { return parser_.prepare(); });
    const ssize_t got = receive_beside(socket_.native_handle(), room, beside);
    if (got == 0) throw broken();
    if (got > 0) parser_.commit(static_cast<size_t>(got));
  }
}

Task<Json> ClientConnection::receive_piece(size_t& room) {
  const Frame frame = co_await receive_within(kWorkTimeout);
  if (frame.type == FrameType::end) co_return Json();
  if (frame.type != FrameType::items) throw broken();
  if (frame.payload.size() > room) throw Error(ErrorCode::too_large, "the list is too long");
  room -= frame.payload.size();
  Json list = checked([&] { return parse_json(frame.payload); });
  if (!list.is_array()) throw broken();
  co_return list;
}

Task<bool> ClientConnection::send(std::string_view frames) {
  const auto [failure, sent] =
      co_await asio::async_write(socket_, asio::buffer(frames.data(), frames.size()), kAsTuple);
  if (failure == asio::error::operation_aborted && !closed_)
    throw boost::system::system_error(failure);
  co_return !failure;
}

Task<bool> ClientConnection::send_bytes(std::string_view bytes) {
  std::array<char, kHeaderBytes> header;
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, kMaxPayload);
    bytes.remove_prefix(part.size());
    put_header(header.data(), FrameType::bytes, part.size());
    const std::array<asio::const_buffer, 2> both{asio::buffer(header),
                                                 asio::buffer(part.data(), part.size())};
    const auto [failure, sent] = co_await asio::async_write(socket_, both, kAsTuple);
    if (failure == asio::error::operation_aborted && !closed_)
      throw boost::system::system_error(failure);
    if (failure) co_return false;
  }
  co_return true;
}

Task<bool> ClientConnection::send_end() {
  const std::string frames = frame(FrameType::end, "");
  co_return co_await send(frames);
}

void ClientConnection::close() {
  closed_ = true;
  boost::system::error_code ignored;
  socket_.close(ignored);
}

}  // namespace sandgate::agent
