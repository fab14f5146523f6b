#pragma once
#include <memory>
#include <string>

#include "gateway/core/tenant_log_limiter.hpp"
#include "gateway/http/client_relay.hpp"
#include "gateway/http/connection_body.hpp"
#include "gateway/http/connection_set.hpp"
#include "gateway/http/limits.hpp"
#include "gateway/http/responder.hpp"
#include "gateway/http/response_head.hpp"
#include "gateway/http/transport.hpp"

namespace sandgate::http {

// Settings shared by all connections of a server. Must outlive them.
struct ConnectionContext {
  Responder& responder;
  Limits limits;
  RelaxedAtomic<bool> access_log = false;  // every answer, not only failures
  // Of the failures of each tenant; callers can cause many of them.
  std::shared_ptr<TenantLogLimiter> failure_pace = std::make_shared<TenantLogLimiter>(10);
};

// One client connection: reads requests, answers them in order, and closes. Lives on one loop.
// Cancelling the connection cancels the handler in progress.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Transport::Socket socket, std::shared_ptr<asio::ssl::context> tls,
             const ConnectionContext& context, std::shared_ptr<ConnectionSet> connections);
  ~Connection();

  void start();
  // Answers 503 at once and closes, because the server is at its connection limit. Under TLS closes
  // without an answer.
  void start_refusing();

  // Called by ConnectionSet: a deadline passed, or the client left during an answer. A request
  // whose body is late is cut off first, with 408.
  bool should_end(int64_t now_ms);
  bool idle() const { return phase_ == Phase::idle; }
  void cancel();
  // Called when the server stops. Like cancel(), but a request whose answer has not begun gets 503.
  void cut_off();

 private:
  enum class CutOff { no, by_stop, by_late_body };
  enum class Phase { idle, reading, answering, streaming_messages, closing };

  // The request being read or answered.
  struct Current {
    explicit Current(const Limits& limits) : parser(request, limits) {}
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

    Request request;
    RequestParser parser;
  };

  void cut_off(CutOff reason);
  bool is_cut_off() const { return cut_off_ != CutOff::no; }
  void spawn(Task<void> (Connection::*work)());
  Task<void> run();
  Task<void> refuse();
  // Handles one request and its answer. Returns whether another request may follow.
  Task<bool> exchange(Current& current);
  Task<bool> read_head(RequestParser& parser);
  Task<bool> refuse_head(const Current& current, const Error& wrong);
  void describe(Request& request) const;
  Task<Response> answer(Request& request, ConnectionBody& body);
  // Returns the answer; if it was cut off meanwhile, that or a refusal, ready to be sent.
  Task<Response> unless_cut_off(Task<Response> answering, const Request& request);
  // What to answer to a request that failed before its answer began.
  Response refusal(const Request& request, std::exception_ptr failure);
  bool can_continue(const RequestParser& parser, ConnectionBody& body) const;
  Task<bool> send(const Request& request, Response& response, Framing framing);
  Task<void> send_text(const Request& request, const Response& response, Framing framing);
  Task<bool> send_stream(const Request& request, Response& response, Framing framing);
  Task<void> upgrade(const Request& request, Response& response);
  Task<bool> relay(const Request& request, RelayBody& relay, const RequestParser& parser,
                   ConnectionBody& body);
  // Half-closes and drains, so that a client that is still sending can read the answer.
  Task<void> linger();

  const ConnectionContext& context_;
  std::shared_ptr<ConnectionSet> connections_;
  ConnectionSet::Handle handle_;
  Transport transport_;
  ReadBuffer buffer_{kMaxReadBuffer};
  std::optional<Current> current_;  // here, since coroutine frames over 1 KB are not recycled
  std::string out_;
  std::string remote_address_;
  asio::cancellation_signal cancellation_;
  Phase phase_ = Phase::idle;
  int sweeps_since_left_ = 0;  // checks by ConnectionSet since the client was first seen gone
  bool cancelled_ = false;
  CutOff cut_off_ = CutOff::no;
  RelayTimer relay_timer_;  // of the relay in progress
};

}  // namespace sandgate::http
