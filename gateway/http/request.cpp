#include "gateway/http/request.hpp"

#include <algorithm>

#include "gateway/core/bounded_json.hpp"
#include "gateway/core/crypto.hpp"
#include "gateway/core/field_text.hpp"
#include "gateway/core/percent.hpp"
#include "gateway/http/table_body.hpp"
#include "gateway/http/target.hpp"
#include "gateway/http/token.hpp"

namespace sandgate::http {
namespace {

// RFC 6455, 4.1: the key is 16 bytes in Base64.
bool has_websocket_key(const Headers& headers) {
  constexpr const char* kName = "Sec-WebSocket-Key";
  const auto is_it = [](const auto& field) { return equal_ignoring_case(field.first, kName); };
  if (std::ranges::count_if(headers.fields(), is_it) != 1) return false;
  const auto key = base64_decode(*headers.find(kName));
  return key && key->size() == 16;
}

void require_body(const Request& request) {
  // With all members optional, a body lost on the way would otherwise mean the defaults.
  if (request.body.empty()) throw Error::invalid("", "the request needs a body");
}

}  // namespace

void Request::decode_target() {
  const Target parts = split_target(target);
  auto decoded = percent_decode(parts.path);
  if (!decoded) throw Error::invalid("", "the path has a bad percent escape or is not UTF-8");
  path = std::move(*decoded);
  query = Query(parts.query);
}

Json Request::json() const {
  require_body(*this);
  return parse_bounded_json(body);
}

Json table_in(const Request& request) {
  require_body(request);
  return parse_json(request.body);
}

Json Request::json_or_empty() const { return body.empty() ? Json::object() : json(); }

const TenantId& Request::tenant() const {
  require_tenant(caller);
  return *caller.tenant;
}

bool Request::is_websocket_upgrade() const {
  const auto upgrade = headers.list("Upgrade");
  const auto connection = headers.list("Connection");
  return method == Method::get && upgrade && has_token(*upgrade, "websocket") && connection &&
         has_token(*connection, "upgrade") && headers.find("Sec-WebSocket-Version") == "13" &&
         has_websocket_key(headers);
}

void Request::require_websocket() const {
  if (!is_websocket_upgrade()) throw websocket_required();
}

Error websocket_required() {
  return Error(ErrorCode::invalid,
               "this path is a WebSocket: send GET over HTTP/1.1 with 'Connection: Upgrade', "
               "'Upgrade: websocket', 'Sec-WebSocket-Version: 13' and a Sec-WebSocket-Key");
}

}  // namespace sandgate::http
