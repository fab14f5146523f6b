#pragma once
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "local/agent/context.hpp"
#include "local/agent/files/file.hpp"
#include "local/agent/protocol.hpp"

namespace sandgate {
class Error;
}

namespace sandgate::agent {

// An operation in progress on a connection. It handles the frames after the request; operations
// completed by a single reply need none.
class Operation {
 public:
  virtual ~Operation() = default;
  virtual bool wants_frames() const = 0;  // false: input stays in the socket (back-pressure)
  virtual void on_frame(const Frame& frame) = 0;  // an Error it throws is sent to the client
  virtual void on_writable() = 0;  // once at the start, then when the send buffer has drained
  virtual void on_closed() = 0;  // the connection is closed; the last call
};

// A client's connection: reads the request, starts the operation and passes its frames on. Sending
// never blocks; bytes the socket does not accept are buffered without limit, so senders check
// backlog() first.
class Connection {
 public:
  using Start = std::function<std::unique_ptr<Operation>(Connection&, const nlohmann::json&)>;
  using Closed = std::function<void(Connection*)>;

  // `start` creates the operation of a request, or returns null when it has answered it or keeps it
  // for start(). `closed` is called once, from within the connection, and must defer destroying it.
  Connection(Context& context, Fd socket, Start start, Closed closed);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void send(FrameType type, std::string_view payload);
  void send_output(uint8_t channel, uint64_t end_offset, std::string_view bytes);
  // Sends a reply frame; more frames may follow. Throws Error(too_large) above kMaxPayload.
  void reply(const nlohmann::json& document);
  // As reply(), with a descriptor attached (SCM_RIGHTS). Only for the first frame sent.
  void reply_with(const nlohmann::json& document, const Fd& beside);
  void fail(const Error& error);  // sends the last frame, then finishes
  void finish();  // closes once everything is sent
  void close();
  size_t backlog() const { return out_.size(); }  // bytes not yet accepted by the socket
  void update();  // to be called when wants_frames() may have changed; delivers pending frames

  bool has_operation() const { return operation_ != nullptr; }
  void start(const nlohmann::json& request);  // the connection's own, which was kept

  // Gives the socket up and closes the connection; parser() keeps the bytes already read from it.
  Fd release_socket();
  FrameParser& parser() { return parser_; }

 private:
  void on_ready(uint32_t events);
  void receive();
  void take_frames();
  void take_request(const Frame& frame);
  void begin(const nlohmann::json& request);
  bool reading() const;
  void flush();
  void update_watch();

  Context& context_;
  Fd socket_;
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
