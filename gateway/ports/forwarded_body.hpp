#pragma once
#include <string>

#include "gateway/http/responder.hpp"
#include "gateway/ports/app_exchange.hpp"
#include "gateway/ports/forwarded_request.hpp"

namespace sandgate::ports {

// A request's body on its way to the program: a small one is gathered and sent with the head, any
// other streams after it through one buffer.
class ForwardedBody {
 public:
  explicit ForwardedBody(http::IncomingBody& body)
      : body_(body), framing_{.length = body.length()} {}

  bool is_empty() const { return body_.ended(); }  // before gather()
  // Call first, unless it is empty. Reads a small body whole. Throws as IncomingBody::read().
  Task<void> gather();
  const BodyFraming& framing() const { return framing_; }
  const std::string& small() const { return small_; }
  bool streams() const { return streams_; }

  // Streams the body until its end, or until the program takes no more. Throws as
  // IncomingBody::read(), AppConnection::write() and AppExchange::check_open().
  Task<void> upload(AppExchange& app);
  bool is_sent() const { return !streams_ || uploaded_; }

 private:
  http::IncomingBody& body_;
  BodyFraming framing_;
  std::string small_;
  bool streams_ = false, uploaded_ = false;
};

}  // namespace sandgate::ports
