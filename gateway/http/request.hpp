#pragma once
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "gateway/core/json_reader.hpp"
#include "gateway/core/trace.hpp"
#include "gateway/http/caller.hpp"
#include "gateway/http/headers.hpp"
#include "gateway/http/method.hpp"
#include "gateway/http/query.hpp"
#include "providers/sandbox.hpp"

namespace sandgate::http {

// A request as handlers see it, independent of sockets and Beast.
struct Request {
  Method method = Method::get;
  std::string other_method;  // the name of Method::other, as sent
  std::string target;  // as sent
  std::string path;  // decoded, without the query
  std::string_view route;  // pattern of the matched route; empty: none matched
  std::map<std::string, std::string, std::less<>> params;  // {id} of the route's pattern
  Query query;
  Headers headers;
  std::string body;  // with BodyMode::buffered; otherwise empty
  ByteSource* stream = nullptr;  // with BodyMode::streamed; valid until handler and answer end
  std::string id;  // X-Request-Id, "rq…"
  TracePtr trace;  // the caller's trace context or null; the handler runs under it
  std::string claim;  // id of the run under an Idempotency-Key, for mark_effect(), or empty
  std::string earlier;  // what an unanswered earlier run of this call made, or empty
  // For a request within a session (see Dispatcher::subrequest): creates are scoped to this
  // session. Empty: the profile's scope applies.
  std::string session;
  std::chrono::steady_clock::time_point received;  // when its head was complete
  std::string remote_address;
  Caller caller;
  std::shared_ptr<void> connection_token;  // holds a tenant's connection, see Admission
  bool over_connection_limit = false;  // no share was left: the connection closes after the answer

  std::string_view method_name() const {
    return method == Method::other ? std::string_view(other_method) : to_string(method);
  }
  const std::string& param(std::string_view name) const { return params.find(name)->second; }
  // Sets path and query to the target's. Throws Error(invalid).
  void decode_target();
  // Parses the body as JSON. Throws Error(invalid), also if it is empty.
  Json json() const;
  // Like json(), but a missing body reads as {}.
  Json json_or_empty() const;
  // The tenant the call acts for. Throws Error(invalid) if an operator names none.
  const TenantId& tenant() const;
  // Whether the request is a WebSocket upgrade, so that an UpgradeBody may answer it.
  bool is_websocket_upgrade() const;
  void require_websocket() const;  // throws websocket_required() unless it is one
};

// Returns Error(invalid) that says how to ask for a WebSocket.
Error websocket_required();

}  // namespace sandgate::http
