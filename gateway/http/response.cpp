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

}  // namespace sandgate::http
