#pragma once
#include <optional>

#include "gateway/http/request.hpp"
#include "gateway/http/response.hpp"

namespace sandgate::http {

// The unread body of the request being answered. read() throws Error(invalid) for bad framing and
// boost::system::system_error if the client is gone.
class IncomingBody : public ByteSource {
 public:
  virtual bool ended() const = 0;  // nothing left to read
  virtual std::optional<uint64_t> length() const = 0;  // Content-Length, when there is one
  virtual bool broken() const = 0;  // the client disconnected within the body: no answer is needed
  // Sends "100 Continue" to a client that expects it. read() does so itself; call this first if the
  // body is read after the answer has begun.
  virtual Task<void> send_continue() = 0;
  // Sets the minimum pace of the body, see Limits; the default is upload. A slower body ends the
  // connection. With none only Limits::body_timeout of silence does.
  enum class MinPace { whole, upload, none };
  virtual void set_min_pace(MinPace) {}
};

// Answers requests: the interface between connections and routes.
class Responder {
 public:
  virtual ~Responder() = default;
  // Failures of handlers become answers. Throws only if the connection ended or was cancelled:
  // boost::system::system_error or the handler's failure. The caller drops the unread body.
  virtual Task<Response> respond(Request& request, IncomingBody& body) = 0;
  // Whether the request is passed on as it is: its target need not decode, Request::path and query
  // stay empty, and its method may be Method::other.
  virtual bool is_passthrough(const Request&) const { return false; }
  // Answers a request that is not passed on and has Method::other.
  virtual Response refuse_method(const Request& request) = 0;
};

}  // namespace sandgate::http
