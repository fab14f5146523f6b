#include "local/agent/files/file_session.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

#include "gateway/core/error.hpp"
#include "gateway/core/json_text.hpp"
#include "local/agent/error_text.hpp"

namespace sandgate::agent {
namespace {

constexpr size_t kItemBytes = 32 * 1024;
constexpr unsigned kLookEvery = 64;  // steps of work

}  // namespace

Frame FileSession::receive() {
  while (true) {
    if (const auto frame = parser_.next()) return *frame;
    const std::span<char> room = parser_.prepare();
    const ssize_t got = ::recv(socket_, room.data(), room.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw Error(ErrorCode::unavailable, "the client is gone");
    parser_.commit(static_cast<size_t>(got));
  }
}

std::string_view FileSession::receive_bytes() {
  while (true) {
    const Frame frame = receive();
    if (frame.type == FrameType::end) return {};
    if (frame.type != FrameType::bytes) throw Error(ErrorCode::invalid, "only bytes may follow");
    if (!frame.payload.empty()) return frame.payload;
    space_is_scarce_ = true;
  }
}

void FileSession::reply(const nlohmann::json& document) {
  send_raw(frame(FrameType::reply, json_text(document)));
}

void FileSession::fail(const Error& error) {
  try {
    send_raw(frame(FrameType::error, error_text(error)));
  } catch (const Error&) {
    // The client is gone.
  }
}

size_t FileSession::item(const nlohmann::json& document) {
  const std::string text = json_text(document);
  if (text.size() + 2 > kMaxPayload)
    throw Error(ErrorCode::too_large, "a path or link is too long to be told");
  if (items_.size() + text.size() >= kItemBytes) flush_items();
  items_ += (items_.empty() ? '[' : ',') + text;
  return text.size();
}

void FileSession::flush_items() {
  if (items_.empty()) return;
  send_raw(frame(FrameType::items, items_ + "]"));
  items_.clear();
}

void FileSession::bytes(std::string_view bytes) {
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kMaxPayload)))
    send_raw(frame(FrameType::bytes, bytes.substr(0, kMaxPayload)));
}

void FileSession::end() {
  flush_items();
  send_raw(frame(FrameType::end, ""));
}

bool FileSession::show_progress() {
  if (steps_++ % kLookEvery != 0) return false;
  const auto now = std::chrono::steady_clock::now();
  if (now - sign_at_ < sign_every_) return true;
  sign_at_ = now;
  // Nothing else is in the socket, so a few bytes are sent whole or not at all.
  const std::string sign = frame(FrameType::bytes, "");
  (void)!::send(socket_, sign.data(), sign.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return true;
}

void FileSession::check_client() {
  if (!show_progress()) return;
  pollfd client{socket_, POLLRDHUP, 0};
  if (::poll(&client, 1, 0) == 1) throw Error(ErrorCode::unavailable, "the client is gone");
}

void FileSession::send_raw(std::span<const char> frames) {
  while (!frames.empty()) {
    const ssize_t put = ::send(socket_, frames.data(), frames.size(), MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) throw Error(ErrorCode::unavailable, "the client is gone");
    frames = frames.subspan(static_cast<size_t>(put));
  }
}

}  // namespace sandgate::agent
