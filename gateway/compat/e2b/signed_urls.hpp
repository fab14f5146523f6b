#pragma once
#include "gateway/compat/e2b/token_index.hpp"
#include "gateway/http/responder.hpp"

namespace sandgate::compat::e2b {

// Accepts signed file URLs, which carry no token, and the tokens that older clients send without
// the sandbox's id. Adds what is missing, the token to a request with a valid signature, and passes
// all requests on to the data plane.
class SignedUrls final : public http::Responder {
 public:
  // `domain` as in PlaneRouter. All references must outlive this object.
  SignedUrls(http::Responder& data, const AccessTokens& tokens, TokenIndex& live,
             const Clock& clock, std::string domain)
      : data_(data), tokens_(tokens), live_(live), clock_(clock), domain_(std::move(domain)) {}

  Task<http::Response> respond(http::Request& request, http::IncomingBody& body) override;
  http::Response refuse_method(const http::Request& request) override {
    return data_.refuse_method(request);
  }

 private:
  // As answer(), for scripts of web pages as well; answers their preflights, which carry no more
  // than the address, without looking at the signature.
  Task<http::Response> answer_page(http::Request& request, http::IncomingBody& body);
  Task<http::Response> answer(http::Request& request, http::IncomingBody& body);
  // Of a request without a token. Throws Error(unauthenticated) for an invalid or expired
  // signature.
  Task<void> take_signature(http::Request& request);
  // Names the sandbox of a token that came alone. A token of none that lives is left as it is.
  Task<void> take_token(http::Request& request);

  http::Responder& data_;
  const AccessTokens& tokens_;
  TokenIndex& live_;
  const Clock& clock_;
  const std::string domain_;
};

}  // namespace sandgate::compat::e2b
