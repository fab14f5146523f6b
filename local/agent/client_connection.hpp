#pragma once
#include <memory>
#include <string>
#include <vector>

#include "gateway/core/async.hpp"
#include "gateway/core/json_reader.hpp"
#include "local/agent/protocol.hpp"
#include "providers/provider.hpp"

namespace sandgate::agent {

// How long an agent that lives may take to answer, and to answer what is work: a program to start
// beside others, a tree to remove, a disk to write.
inline constexpr std::chrono::seconds kReplyPatience{20}, kWorkPatience{60};

// One dialled connection to an agent, whose every byte is checked. One coroutine may receive while
// another sends. Use it as a shared_ptr that each coroutine holds: closing it ends them.
class ClientConnection {
 public:
  explicit ClientConnection(const asio::any_io_executor& executor);

  // Dials and sends the request. Throws Error(not_found) when nobody listens there.
  static Task<std::shared_ptr<ClientConnection>> open(std::string socket_path,
                                                      std::string operation, Json request);

  // The next frame; the payload is valid until the next call. Throws what an error frame says, and
  // Error(unavailable) when the connection broke.
  Task<Frame> receive();
  // Throws Error(timeout) when nothing comes in time.
  Task<Json> receive_reply(std::chrono::seconds patience = kReplyPatience);
  // The descriptor that comes beside a reply; what it is must be checked.
  Task<StreamSocket> receive_descriptor();
  // All objects of a list until its end, at most `max`, each as `made` of its JSON. Throws
  // Error(too_large) beyond kMaxList.
  template <class T>
  Task<std::vector<T>> receive_items(size_t max, T (*made)(const Json&));

  // False when the agent no longer listens: then receive() tells why.
  Task<bool> send(std::string_view frames);  // the bytes outlive the call
  // As bytes frames; false as above.
  Task<bool> send_bytes(std::string_view bytes);
  Task<bool> send_end();

  void close();

 private:
  Task<Frame> receive_within(std::chrono::seconds patience);
  // The next piece of a list, whose size `room` loses; null: there is no more.
  Task<Json> receive_piece(size_t& room);

  asio::local::stream_protocol::socket socket_;
  FrameParser parser_;
  bool closed_ = false;
};

// Runs a check of what the agent sent; an Error(invalid) there is the agent's fault, not the
// caller's, and becomes Error(unavailable).
template <class F>
auto checked(F check) {
  try {
    return check();
  } catch (const Error& error) {
    if (error.code != ErrorCode::invalid) throw;
    throw Error(ErrorCode::unavailable, "the sandbox's agent sent something malformed");
  }
}

template <class T>
Task<std::vector<T>> ClientConnection::receive_items(size_t max, T (*made)(const Json&)) {
  std::vector<T> items;
  size_t room = kMaxList;
  while (true) {
    auto receiving = receive_piece(room);
    const Json piece = co_await std::move(receiving);
    if (piece.is_null()) co_return items;
    if (items.size() + piece.size() > max)
      throw Error(ErrorCode::unavailable, "the sandbox's agent sent something malformed");
    for (const Json& item : piece) items.push_back(made(item));
  }
}

}  // namespace sandgate::agent
