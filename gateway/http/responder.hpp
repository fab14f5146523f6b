#pragma once
#include <optional>

#include "gateway/http/request.hpp"
#include "gateway/http/response.hpp"

namespace sandgate::http {

// The body of the request being answered, not read yet. read() throws Error(invalid) for bad
// framing and boost::system::system_error when the client is gone.
class IncomingBody : public ByteSource {
 public:
  virtual bool ended() const = 0;  // nothing left to read
  virtual std::optional<uint64_t> length() const = 0;  // Content-Length, when there is one
  virtual bool broken() const = 0;  // the client went away inside it: no answer is wanted
  // Tells a client that waits for "100 Continue" to go on; read() does so by itself, but must not
  // once an answer has begun.
  virtual Task<void> invite() = 0;
  // How slowly it may come from now on, see Limits; an upload where nothing is said. What is slower
  // ends with its connection.
  enum class Speed { whole, upload, leisure };
  virtual void expect(Speed) {}
};

// What a server asks for every answer: the edge between connections and routes.
class Responder {
 public:
  virtual ~Responder() = default;
  // Failures of handlers are answers too; only the end of the connection is thrown
  // (boost::system::system_error). What of the body is not read is dropped.
  virtual Task<Response> respond(Request& request, IncomingBody& body) = 0;
  // Whether the target is for somebody else to understand: then it need not decode, and
  // Request::path and query stay empty.
  virtual bool passes_on(const Request&) const { return false; }
  // For a method that Method does not name.
  virtual Response refuse_method(const Request& request) = 0;
};

}  // namespace sandgate::http
