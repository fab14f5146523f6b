#include "local/agent/connection.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

#include "gateway/core/error.hpp"
#include "gateway/core/json_reader.hpp"
#include "gateway/core/json_text.hpp"
#include "local/agent/error_text.hpp"
#include "local/fd_passing.hpp"

namespace sandgate::agent {

Connection::Connection(Context& context, Fd socket, Start start, Closed closed)
    : context_(context),
      socket_(std::move(socket)),
      start_(std::move(start)),
      closed_(std::move(closed)) {
  watch_ = context_.loop.watch(socket_.get(), EPOLLIN | EPOLLRDHUP,
                               [this](uint32_t events) { on_ready(events); });
}

Connection::~Connection() { context_.loop.drop(watch_); }

bool Connection::reading() const {
  if (finishing_) return false;
  return operation_ ? operation_->wants_frames() : !requested_;
}

void Connection::on_ready(uint32_t events) {
  if (events & EPOLLOUT) flush();
  if (!socket_) return;
  if ((events & EPOLLIN) && reading()) return receive();
  if (events & (EPOLLHUP | EPOLLERR | EPOLLRDHUP)) return close();
  update_watch();
}

void Connection::receive() {
  try {
    const std::span<char> room = parser_.prepare();
    const ssize_t got = ::recv(socket_.get(), room.data(), room.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return close();
    parser_.commit(static_cast<size_t>(got));
  } catch (const Error& error) {
    return fail(error);
  }
  take_frames();
}

void Connection::take_frames() {
  if (taking_) return;
  taking_ = true;
  try {
    while (socket_ && reading()) {
      const auto frame = parser_.next();
      if (!frame) break;
      if (operation_)
        operation_->on_frame(*frame);
      else
        take_request(*frame);
    }
  } catch (const Error& error) {
    fail(error);
  }
  taking_ = false;
  if (socket_) update_watch();
}

void Connection::take_request(const Frame& frame) {
  if (frame.type != FrameType::request && frame.type != FrameType::request_part)
    throw Error(ErrorCode::invalid, "a connection starts with its request");
  if (request_.size() + frame.payload.size() > kMaxRequest)
    throw Error(ErrorCode::too_large, "the request is too long");
  request_ += frame.payload;
  if (frame.type == FrameType::request_part) return;
  requested_ = true;
  const nlohmann::json document = parse_json(request_);
  request_ = {};
  begin(document);
}

void Connection::begin(const nlohmann::json& request) {
  auto operation = start_(*this, request);
  if (!operation) return;
  operation_ = std::move(operation);
  if (socket_)
    operation_->on_writable();
  else
    operation_->on_closed();  // lost while the operation began
}

void Connection::start(const nlohmann::json& request) {
  try {
    begin(request);
  } catch (const Error& error) {
    fail(error);
  }
  take_frames();  // what came after the request
}

void Connection::send(FrameType type, std::string_view payload) {
  if (!socket_) return;
  char header[kHeaderBytes];
  put_header(header, type, payload.size());
  out_.append(header, kHeaderBytes).append(payload);
  flush();
}

void Connection::send_output(uint8_t channel, uint64_t end_offset, std::string_view bytes) {
  if (!socket_) return;
  char head[kHeaderBytes + kOutputPrefix];
  put_header(head, FrameType::output, kOutputPrefix + bytes.size());
  put_output_prefix(head + kHeaderBytes, channel, end_offset);
  size_t sent = 0;
  if (out_.empty()) {
    iovec parts[2] = {{head, sizeof head}, {const_cast<char*>(bytes.data()), bytes.size()}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    const ssize_t put = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put > 0) sent = static_cast<size_t>(put);
  }
  if (sent < sizeof head) out_.append(head + sent, sizeof head - sent);
  out_.append(bytes.substr(sent < sizeof head ? 0 : sent - sizeof head));
  if (!out_.empty()) update_watch();
}

void Connection::reply(const nlohmann::json& document) {
  const std::string text = json_text(document);
  if (text.size() > kMaxPayload) throw Error(ErrorCode::too_large, "the answer is too long");
  send(FrameType::reply, text);
}

void Connection::reply_with(const nlohmann::json& document, const Fd& beside) {
  const std::string bytes = frame(FrameType::reply, json_text(document));
  // Nothing was sent before, so the reply fits into the socket's buffer; if not, the connection is
  // closed.
  const ssize_t put = send_with_fd(socket_.get(), bytes, beside.get());
  if (put != static_cast<ssize_t>(bytes.size())) close();
}

void Connection::fail(const Error& error) {
  send(FrameType::error, error_text(error));
  finish();
}

void Connection::finish() {
  finishing_ = true;
  if (socket_ && out_.empty())
    close();
  else
    update_watch();
}

void Connection::close() {
  if (!socket_) return;
  context_.loop.drop(watch_);
  socket_.reset();
  if (operation_) operation_->on_closed();
  closed_(this);
}

Fd Connection::release_socket() {
  context_.loop.drop(watch_);
  Fd socket = std::move(socket_);
  closed_(this);
  return socket;
}

void Connection::flush() {
  size_t sent = 0;
  while (socket_ && sent < out_.size()) {
    const ssize_t put =
        ::send(socket_.get(), out_.data() + sent, out_.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EAGAIN) break;
    if (put <= 0) return close();
    sent += static_cast<size_t>(put);
  }
  out_.erase(0, sent);
  if (!socket_) return;
  update_watch();
  if (!out_.empty()) return;
  if (finishing_)
    close();
  else if (sent > 0 && operation_)
    operation_->on_writable();
}

void Connection::update() { take_frames(); }

void Connection::update_watch() {
  if (!socket_) return;
  context_.loop.change(watch_, (reading() ? EPOLLIN : 0u) | (out_.empty() ? 0u : EPOLLOUT) |
                                   static_cast<uint32_t>(EPOLLRDHUP));
}

}  // namespace sandgate::agent
