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

// A backend that is reached by path itself, as another gateway is: it puts that path before what
// its answers lead to. Both empty for any other.
struct Upstream {
  std::string_view host, prefix;
};

struct Returning {
  const AppResponse& answer;
  const PortAddress& address;
  const http::Request& request;
  AnswerFraming framing;
  std::string cookie;  // a Set-Cookie of ours, or empty
  Upstream upstream{};
};

// The head of a program's answer as the client gets it: made anew like the forwarded one. Below a
// path, what would reach beyond it (redirects, cookies, service workers) is kept inside. The
// request's id and the port's cookie are ours alone to set.
std::string returned_head(const Returning& returning);

// What the program said: "/login" of an upstream's "/p/sb…/80/login", with its host or without.
// Other locations unchanged.
std::string program_location(std::string_view location, const Upstream& upstream);
// "/login" below the prefix, and so what names the gateway itself, which the client asked as
// `host`: "//host/login", "http://host/login". Other locations unchanged.
std::string kept_location(std::string_view location, const PortAddress& address,
                          std::string_view host);
// A Set-Cookie value for this host only, whose path is below the prefix where there is one. A
// browser takes names with __Host- for the path / only, so below a prefix they get another name;
// see cookies_for_program().
std::string kept_cookie(std::string_view cookie, const PortAddress& address,
                        const Upstream& upstream = {});

}  // namespace sandgate::ports
