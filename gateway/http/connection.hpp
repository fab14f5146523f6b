#pragma once
#include <memory>
#include <string>

#include "gateway/http/client_relay.hpp"
#include "gateway/http/connection_body.hpp"
#include "gateway/http/limits.hpp"
#include "gateway/http/patrol.hpp"
#include "gateway/http/responder.hpp"
#include "gateway/http/response_head.hpp"
#include "gateway/http/transport.hpp"

namespace sandgate::http {

// What every connection of a server shares; outlives them all.
struct ConnectionContext {
  Responder& responder;
  Limits limits;
  Live<bool> access_log = false;  // one line per answer, not only for those of 500 and more
};

// One client's connection: reads requests, has them answered in order, and ends. Lives on one
// loop. Cancelling it cancels the handler it runs.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Transport::Socket socket, std::shared_ptr<asio::ssl::context> tls,
             const ConnectionContext& context, std::shared_ptr<Patrol> patrol);
  ~Connection();

  void start();
  // Answers 503 to whatever comes and ends: the server has all the connections it may have.
  void start_refusing();

  // Asked by Patrol: its deadline passed, or its client left a handler behind.
  bool should_end(int64_t now_ms);
  bool idle() const { return phase_ == Phase::idle; }
  void cancel();

 private:
  enum class Phase { idle, reading, answering, streaming_messages, closing };

  void spawn(Task<void> (Connection::*work)());
  Task<void> run();
  Task<void> refuse();
  // One request and its answer; whether another may follow.
  Task<bool> exchange();
  Task<bool> read_head(RequestParser& parser);
  void describe(Request& request) const;
  Task<Response> answer(Request& request, const RequestParser& parser, ConnectionBody& body);
  bool can_continue(const RequestParser& parser, ConnectionBody& body) const;
  Task<bool> send(const Request& request, Response& response, Framing framing);
  // One line in the log about an answer, where it is worth one.
  void note(const Request& request, const Response& response) const;
  Task<void> send_text(const Request& request, const Response& response, Framing framing);
  Task<bool> send_stream(const Request& request, Response& response, Framing framing);
  Task<void> upgrade(const Request& request, Response& response);
  Task<bool> relay(const Request& request, RelayBody& relay, const RequestParser& parser,
                   ConnectionBody& body);
  // Closes so that the client can read the answer although it may still be sending.
  Task<void> linger();

  const ConnectionContext& context_;
  std::shared_ptr<Patrol> patrol_;
  Patrol::Place place_;
  Transport transport_;
  ReadBuffer buffer_{kMaxReadBuffer};
  std::string out_;
  std::string remote_address_;
  asio::cancellation_signal cancellation_;
  Phase phase_ = Phase::idle;
  int looks_since_left_ = 0;  // of Patrol, since the client was first seen gone
  bool cancelled_ = false;
  Alarm alarm_;  // of the relay in progress
};

}  // namespace sandgate::http
