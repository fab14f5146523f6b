#pragma once
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "gateway/core/async.hpp"
#include "gateway/core/ids.hpp"
#include "gateway/core/json_reader.hpp"
#include "gateway/core/trace.hpp"
#include "providers/sandbox.hpp"

// What a handler sees of HTTP: no socket, no Beast.
namespace sandgate::http {

enum class Method { get, head, post, put, patch, delete_, options };
std::string_view to_string(Method method);

// Who calls. `tenant` is empty only for an operator that acts for none.
enum class Role { owner, admin, developer, billing, viewer, operator_ };

struct Caller {
  Role role = Role::viewer;
  std::optional<TenantId> tenant;
  std::string key_id;  // empty for the operator key of the environment
  std::string key_name;
  bool suspended = false;  // of the tenant: creates and execs are refused
  std::optional<SandboxId> sandbox;  // set: the only one of the tenant's it may touch
  bool is_operator() const { return role == Role::operator_; }
};

// Case-insensitive by name; the first value wins on lookup.
class Headers {
 public:
  void add(std::string name, std::string value) {
    fields_.emplace_back(std::move(name), std::move(value));
  }
  // In the place of all of this name.
  void set(std::string name, std::string value);
  std::optional<std::string_view> find(std::string_view name) const;
  const std::vector<std::pair<std::string, std::string>>& fields() const { return fields_; }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

// Decoded "?a=1&b" parameters, in order.
class Query {
 public:
  Query() = default;
  // Throws Error(invalid) for bad percent escapes or text that is not UTF-8.
  explicit Query(std::string_view encoded);
  void add(std::string name, std::string value) {
    items_.emplace_back(std::move(name), std::move(value));
  }
  // Throws Error(invalid) with path "?name" when it comes more than once.
  std::optional<std::string> find(std::string_view name) const;
  // "true" or "false", the latter when absent. Throws Error(invalid) with path "?name".
  bool flag(std::string_view name) const;
  // An integer within limits, or the fallback when absent. Throws Error(invalid) with path "?name".
  int64_t integer(std::string_view name, int64_t min, int64_t max, int64_t fallback) const;
  const std::vector<std::pair<std::string, std::string>>& items() const { return items_; }

 private:
  std::vector<std::pair<std::string, std::string>> items_;
};

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

// Where a streaming answer writes. write() returns when the client took the bytes (back-pressure)
// and throws boost::system::system_error when the client is gone.
class BodySink {
 public:
  virtual ~BodySink() = default;
  virtual Task<void> write(std::span<const char> bytes) = 0;
};

struct StreamBody {
  std::optional<uint64_t> length;  // Content-Length; else chunked
  std::function<Task<void>(BodySink&)> produce;  // runs on the connection's executor
  bool is_whole = false;  // all of it is there: an answer in pieces, which counts as no stream
};

struct WebSocketMessage {
  bool text = false;
  std::string bytes;
};

// One side of an accepted WebSocket; one reader and one writer at a time.
class WebSocket {
 public:
  virtual ~WebSocket() = default;
  virtual Task<std::optional<WebSocketMessage>> read() = 0;  // empty: closed
  virtual Task<void> write(WebSocketMessage message) = 0;
  virtual Task<void> close(uint16_t code, std::string reason) = 0;
};

struct UpgradeBody {
  std::function<Task<void>(WebSocket&)> serve;
  std::string protocol;  // subprotocol to confirm, or empty
};

// The client of an answer that its handler writes itself, byte by byte. Lives on the connection's
// loop; one reader and one writer at a time.
class ClientSide {
 public:
  virtual ~ClientSide() = default;
  virtual bool http11() const = 0;
  // Whether an answer begun now may be followed by another request; else it must say so.
  virtual bool keeps_alive() = 0;
  // Returns when the client took the bytes. Throws boost::system::system_error when it is gone or
  // took nothing for `limit`.
  virtual Task<void> write(std::span<const asio::const_buffer> buffers,
                           std::chrono::milliseconds limit) = 0;
  // From here on read() gives what the client sends, whatever it is; 0 bytes at its end.
  virtual void upgrade() = 0;
  virtual Task<size_t> read(std::span<char> into) = 0;
  // Calls `ring` once, on this loop, unless set again or stilled within `limit` (about 100 ms
  // exact). Costs no timer.
  virtual void set_alarm(std::chrono::milliseconds limit) = 0;
  virtual void still_alarm() = 0;
  virtual void on_alarm(std::function<void()> ring) = 0;
};

struct RelayBody {
  // Whether another request may follow on the connection. An Error before the first byte was
  // written is answered; after that every failure cuts the connection.
  std::function<Task<bool>(ClientSide&)> serve;
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
  // UpgradeBody is only valid for a request that asks for a WebSocket; with RelayBody nothing else
  // of the response counts.
  std::variant<std::string, StreamBody, UpgradeBody, RelayBody> body;
  std::optional<ErrorCode> code;  // of the problem it tells, for the log

  static Response json(int status, const Json& value);
  static Response empty(int status);  // no body, no content type
};

}  // namespace sandgate::http
