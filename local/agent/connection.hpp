#pragma once
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "local/agent/context.hpp"
#include "local/agent/file.hpp"
#include "local/agent/protocol.hpp"

namespace sandgate {
class Error;
}

namespace sandgate::agent {

// What a connection does after its request when one answer was not all.
class Operation {
 public:
  virtual ~Operation() = default;
  virtual bool wants_frames() const = 0;  // false: what the client sends waits in the socket
  virtual void on_frame(const Frame& frame) = 0;  // may throw Error
  virtual void on_writable() = 0;  // what was sent has left
  virtual void on_closed() = 0;  // the client is gone; the last call
};

// One client's connection: reads its request, starts the operation, carries its frames. Sending
// never blocks; what the socket does not take waits here, so senders look at backlog() first.
class Connection {
 public:
  using Start = std::function<std::unique_ptr<Operation>(Connection&, const nlohmann::json&)>;
  using Closed = std::function<void(Connection*)>;

  // `start` makes the operation of a request (null: it was answered); `closed` is told once, and
  // must destroy the connection only later.
  Connection(Context& context, File socket, Start start, Closed closed);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void send(FrameType type, std::string_view payload);
  void send_output(uint8_t channel, uint64_t end_offset, std::string_view bytes);
  void reply(const nlohmann::json& document);  // an answer in one frame, then more may follow
  // The same with a descriptor beside it; only as the first answer.
  void reply_with(const nlohmann::json& document, const File& beside);
  void fail(const Error& error);  // the last frame
  void finish();  // closes once everything was sent
  void close();
  size_t backlog() const { return out_.size(); }
  void update();  // after wants_frames() changed: goes on with frames that wait

  // Hands the socket to somebody else together with what was already read from it.
  File release_socket();
  FrameParser& parser() { return parser_; }

 private:
  void on_ready(uint32_t events);
  void receive();
  void take_frames();
  void take_request(const Frame& frame);
  bool reading() const;
  void flush();
  void update_watch();

  Context& context_;
  File socket_;
  Start start_;
  Closed closed_;
  Loop::Id watch_ = 0;
  FrameParser parser_;
  std::string request_;
  bool requested_ = false, finishing_ = false, taking_ = false;
  std::string out_;
  std::unique_ptr<Operation> operation_;
};

}  // namespace sandgate::agent
