#pragma once
#include <chrono>
#include <string>

#include "gateway/ports/app_exchange.hpp"
#include "gateway/ports/app_response.hpp"
#include "gateway/ports/forwarded_response.hpp"

namespace sandgate::ports {

// Passes a program's answer, whose head was read, on to the client as it comes, framed anew.
class ResponseForwarder {
 public:
  // All referenced objects must outlive run(). `silence`: how long the client may accept nothing.
  ResponseForwarder(http::ClientSide& client, AppExchange& app, AppResponse& answer,
                    std::chrono::milliseconds silence);

  const AnswerFraming& framing() const { return framing_; }

  // `head`: the client's, with that framing. Throws Error(unavailable) for a chunk without an end,
  // and boost::system::system_error when either side ends the connection early; else as
  // AppResponse::parse_body() and AppExchange::read().
  Task<void> run(std::string head);

 private:
  Task<void> pass_length(std::string head, uint64_t length);
  Task<void> pass_chunks(std::string head);
  Task<void> pass_rest(std::string head);

  http::ClientSide& client_;
  AppExchange& app_;
  AppResponse& answer_;
  const std::chrono::milliseconds silence_;
  const AnswerFraming framing_;
};

}  // namespace sandgate::ports
