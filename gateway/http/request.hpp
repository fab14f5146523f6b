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

// What a handler sees of a request: no socket, no Beast.
struct Request {
  Method method = Method::get;
  std::string target;  // as sent
  std::string path;  // decoded, without the query
  std::string_view route;  // the pattern of what answers it; empty: nothing does
  std::map<std::string, std::string, std::less<>> params;  // {id} of the route's pattern
  Query query;
  Headers headers;
  std::string body;  // BodyMode::buffered; else empty
  ByteSource* stream = nullptr;  // BodyMode::streamed; lives as long as the handler and its answer
  std::string id;  // X-Request-Id, "rq…"
  TracePtr trace;  // the caller's, or null; what its handler does is part of it
  std::string claim;  // of this run under an Idempotency-Key, for mark_effect(); empty: none
  std::string earlier;  // what a run of the same call made whose answer was lost; empty: nothing
  // Of a request within a session, see Dispatcher::within: what a create makes is the session's
  // own, and all its creates meet in it. Empty: as the profile's scope says.
  std::string session;
  std::chrono::steady_clock::time_point received;  // when its head had come
  std::string remote_address;
  Caller caller;
  std::shared_ptr<void> place;  // among its tenant's connections, see Admission; null: not counted
  bool turned_away = false;  // there was none: its connection ends with the answer

  const std::string& param(std::string_view name) const { return params.find(name)->second; }
  // The body as JSON. Throws Error(invalid), also when there is none.
  Json json() const;
  // The same where the body may be left out, or be null, which reads as {}.
  Json json_or_empty() const;
  // The tenant the call acts for; Error(invalid) when an operator names none.
  const TenantId& tenant() const;
  // Whether an UpgradeBody may answer this request.
  bool asks_for_websocket() const;
  void require_websocket() const;  // Error(invalid) when it may not: before anything is done
};

}  // namespace sandgate::http
