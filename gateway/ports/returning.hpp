#pragma once
#include <optional>
#include <string>

#include "gateway/http/request.hpp"
#include "gateway/ports/app_response.hpp"
#include "gateway/ports/port_address.hpp"

namespace sandgate::ports {

// How an answer travels back to the client.
struct AnswerFraming {
  std::optional<uint64_t> length;
  bool chunked = false;
  bool keep_alive = true;
  bool http11 = true;
  bool upgrade = false;
};

struct Returning {
  const AppResponse& answer;
  const PortAddress& address;
  const http::Request& request;
  AnswerFraming framing;
  std::string cookie;  // a Set-Cookie of ours, or empty
};

// The head of a program's answer as the client gets it: made anew like the forwarded one. Below a
// path, what would reach beyond it (redirects, cookies, service workers) is kept inside.
std::string returned_head(const Returning& returning);

// "/login" below the prefix; other locations unchanged.
std::string kept_location(std::string_view location, const PortAddress& address);
// A Set-Cookie value for this host only, whose path is below the prefix where there is one.
std::string kept_cookie(std::string_view cookie, const PortAddress& address);

}  // namespace sandgate::ports
