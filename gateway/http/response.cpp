#include "gateway/http/response.hpp"

namespace sandgate::http {

Response Response::json(int status, const Json& value) {
  Response response;
  response.status = status;
  response.body = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return response;
}

Response Response::empty(int status) {
  Response response;
  response.status = status;
  response.content_type.clear();
  return response;
}

}  // namespace sandgate::http
