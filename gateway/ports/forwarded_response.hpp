#pragma once
#include <optional>
#include <string>

#include "gateway/http/request.hpp"
#include "gateway/ports/app_response.hpp"
#include "gateway/ports/port_address.hpp"

namespace sandgate::ports {

// How a response is framed for the client.
struct AnswerFraming {
  std::optional<uint64_t> length;
  bool chunked = false;
  bool keep_alive = true;
  bool http11 = true;
  bool websocket = false;  // the connection becomes one
};

// A backend that is reached by path, such as another gateway, and prepends this prefix to the
// locations and cookie paths in its responses. Both empty for any other backend.
struct Upstream {
  std::string_view host, prefix;
};

struct ForwardedResponse {
  const AppResponse& answer;
  const PortAddress& address;
  const http::Request& request;
  AnswerFraming framing;
  std::string cookie;  // Set-Cookie of the gateway; empty: none
  Upstream upstream{};
};

// The response head for the client, written anew like the forwarded one. Below a path prefix,
// redirects, cookies and service workers are confined to it. Only the gateway sets the request's id
// and the port's cookie. Throws Error(unavailable) if the Connection fields name too many others.
std::string forwarded_response_head(const ForwardedResponse& forwarded);

// The program's own location: "/login" for an upstream's "/p/sb…/80/login", with or without its
// host. Other locations are unchanged.
std::string program_location(std::string_view location, const Upstream& upstream);
// Puts the prefix before paths and before URLs of the gateway itself, which the client calls `host`
// ("//host/login", "http://host/login"). Other locations are unchanged.
std::string confined_location(std::string_view location, const PortAddress& address,
                              std::string_view host);
// A Set-Cookie value confined to this host and, if there is a prefix, to paths below it. Cookies
// named __Host-… are renamed below a prefix, since browsers accept them for the root path only;
// cookies_for_program() restores the names.
std::string confined_cookie(std::string_view cookie, const PortAddress& address,
                            const Upstream& upstream = {});

}  // namespace sandgate::ports
