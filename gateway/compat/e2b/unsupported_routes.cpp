#include "gateway/compat/e2b/unsupported_routes.hpp"

namespace sandgate::compat::e2b {
namespace {

struct Advice {
  std::string_view word, text;
};

// By a segment of the path. The first that fits is given.
constexpr Advice kAdvice[] = {
    {"secrets", ": the API has its own at /v1/secrets"},
    {"volumecontent", ": there are no volumes"},
    {"volumes", ": there are no volumes"},
    {"logs", ": there are no logs of sandboxes"},
    {"tags", ": a template's tags are its profile's channels"},
    {"templates", ": a template is a profile, see PUT /v1/profiles/{name}"},
};

std::string advice_for(std::string_view path) {
  for (const Advice& advice : kAdvice)
    if ((std::string(path) + "/").find("/" + std::string(advice.word) + "/") != std::string::npos)
      return std::string(advice.text);
  return "";
}

Task<http::Response> refuse(http::Request& request) {
  const std::string call = std::string(request.method_name()) + " " + request.path;
  throw Error(ErrorCode::unsupported, call + " is not offered here" + advice_for(request.path));
  co_return http::Response();
}

}  // namespace

void add_unsupported_routes(http::Routes& routes) {
  using http::Method;
  const auto add = [&](Method method, const char* pattern) {
    routes.add({.method = method,
                .pattern = pattern,
                .permission = http::Permission::read,
                .body = http::BodyMode::buffered,
                .handler = refuse});
  };
  for (const Method method :
       {Method::get, Method::post, Method::put, Method::patch, Method::delete_})
    add(method, "/e2b/{rest...}");
  // Else these words would be taken for ids.
  add(Method::get, "/e2b/sandboxes/metrics");
  add(Method::delete_, "/e2b/templates/tags");
}

}  // namespace sandgate::compat::e2b
