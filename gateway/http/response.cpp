#include "gateway/http/response.hpp"

#include "gateway/core/json_text.hpp"

namespace sandgate::http {

Response Response::json(int status, const Json& value) {
  Response response;
  response.status = status;
  response.body = json_text(value);
  return response;
}

Response Response::empty(int status) {
  Response response;
  response.status = status;
  response.content_type.clear();
  return response;
}

Response Response::streaming(std::string content_type) {
  Response response;
  response.content_type = std::move(content_type);
  response.headers = {{"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}};
  return response;
}

}  // namespace sandgate::http
