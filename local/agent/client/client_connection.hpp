#pragma once
#include <memory>
#include <string>
#include <vector>

#include "gateway/core/async.hpp"
#include "gateway/core/json_reader.hpp"
#include "local/agent/protocol.hpp"
#include "providers/provider.hpp"

namespace sandgate::agent {

// Timeouts for an agent's reply: of simple requests, and of requests that do real work (start a
// program on a busy machine, remove a tree, write to disk).
inline constexpr std::chrono::seconds kReplyTimeout{20}, kWorkTimeout{60};
// How long work on a tree of files may take in all.
inline constexpr std::chrono::minutes kTreeTimeout{10};

// A client's connection to an agent. Everything received is validated. One coroutine may receive
// while another sends; each holds the connection by shared_ptr, and close() ends both.
class ClientConnection {
 public:
  explicit ClientConnection(const asio::any_io_executor& executor);

  // Connects and sends the request. Throws Error: not_found when nothing listens on the path,
  // too_large for a request beyond kMaxRequest, invalid when a text in it is not UTF-8.
  static Task<std::shared_ptr<ClientConnection>> open(std::string socket_path,
                                                      std::string operation, Json request);

  // Returns the next frame; its payload is valid until the next call. Throws the Error that an
  // error frame carries, and Error(unavailable) when the connection breaks.
  Task<Frame> receive();
  // Returns the next reply. Throws Error(timeout) when none arrives within `timeout`.
  Task<Json> receive_reply(std::chrono::seconds timeout = kReplyTimeout);
  // As receive_reply(), for work that lasts as long as a tree is large: what counts is how long
  // there is no sign that it goes on, and kTreeTimeout.
  Task<Json> receive_tree_reply(std::chrono::seconds silence = kWorkTimeout);
  // Returns the descriptor attached to a reply, of any kind: the caller checks it. No timeout.
  Task<Fd> receive_descriptor();
  // Returns all items of a list, each converted from JSON by `made`. Throws Error: unavailable
  // beyond `max` items, too_large beyond kMaxList bytes.
  template <class T>
  Task<std::vector<T>> receive_items(size_t max, T (*made)(const Json&));

  // Sends whole frames. Returns false when the agent no longer reads; receive() then throws why.
  Task<bool> send(std::string_view frames);  // the bytes outlive the call
  // Sends the bytes in bytes frames. Returns as send().
  Task<bool> send_bytes(std::string_view bytes);
  Task<bool> send_end();

  void close();

 private:
  Task<Frame> receive_within(std::chrono::seconds timeout);
  // The next frame of a list, or null at its end. Subtracts the frame's size from `room`.
  Task<Json> receive_piece(size_t& room);

  asio::local::stream_protocol::socket socket_;
  FrameParser parser_;
  bool closed_ = false;
};

// What is thrown for data from the agent that is not valid: the agent's fault, not the caller's.
inline Error malformed_answer() {
  return Error(ErrorCode::unavailable, "the sandbox's agent sent something malformed");
}

// Runs code that validates data from the agent. An Error(invalid) from it becomes
// malformed_answer().
template <class F>
auto checked(F check) {
  try {
    return check();
  } catch (const Error& error) {
    if (error.code != ErrorCode::invalid) throw;
    throw malformed_answer();
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
    if (items.size() + piece.size() > max) throw malformed_answer();
    for (const Json& item : piece) items.push_back(made(item));
  }
}

}  // namespace sandgate::agent
