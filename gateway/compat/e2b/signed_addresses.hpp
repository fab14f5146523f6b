#pragma once
#include "gateway/compat/e2b/live_tokens.hpp"
#include "gateway/http/responder.hpp"

namespace sandgate::compat::e2b {

// Stands before the data planes: a signed address of a file, which carries no token, is worth its
// sandbox's token for this one request.
class SignedAddresses final : public http::Responder {
 public:
  // `domain`: as of Door. All outlive it.
  SignedAddresses(http::Responder& data, const AccessTokens& tokens, LiveTokens& live,
                  const Clock& clock, std::string domain)
      : data_(data), tokens_(tokens), live_(live), clock_(clock), domain_(std::move(domain)) {}

  Task<http::Response> respond(http::Request& request, http::IncomingBody& body) override;
  http::Response refuse_method(const http::Request& request) override {
    return data_.refuse_method(request);
  }

 private:
  // Throws Error(unauthenticated) for a signature that is none.
  Task<void> take_signature(http::Request& request);

  http::Responder& data_;
  const AccessTokens& tokens_;
  LiveTokens& live_;
  const Clock& clock_;
  const std::string domain_;
};

}  // namespace sandgate::compat::e2b
