#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "gateway/core/json_reader.hpp"
#include "gateway/core/secret.hpp"
#include "providers/http_client.hpp"

namespace sandgate {

// How an upstream is reached: the same for every call of one deployment.
struct RestTarget {
  std::string provider;  // named in errors
  std::string base_url;  // without a slash at its end
  std::string auth_header = "Authorization";
  Secret auth_value;  // "Bearer …"; empty: none
  bool allow_private = false;
  HttpFields headers;  // of every call besides
  std::shared_ptr<const AwsSigner> signer;  // instead of auth_value
  std::shared_ptr<const TlsIdentity> tls;  // as in HttpCall
};

// The value of an Authorization header.
Secret bearer(const Secret& token);

struct RestCall {
  std::string method = "GET";
  std::string path;  // with its query, already percent-encoded
  std::optional<Json> json;
  std::string bytes;  // instead of json
  ByteSource* upload = nullptr;  // instead of json
  HttpFields headers;
  std::chrono::milliseconds deadline{10000};
  std::chrono::seconds silence{0};
  size_t* room = nullptr;  // bytes that the answer may have; less by it afterwards

  // For a call whose answer, to stream(), or whose body is a file: it may take as long as bytes
  // flow.
  void takes_file();
  void sends_file(ByteSource& bytes);
};

// The value of a Range header. And whether the error says that nothing of the file is in it (416).
std::string range_field(const ByteRange& range);
bool is_beyond_file(const Error& error);

// What a status that is no success means to us. Retry-After is honoured (seconds or a date).
//   400 406 416 422 invalid · 401 403 unavailable with details {"credentials":"refused"} ·
//   402 no_capacity · 404 410 not_found · 405 501 unsupported · 408 timeout · 409 conflict ·
//   413 too_large · 429 rate_limited · 507 quota_exceeded · everything else unavailable
Error error_of_status(std::string_view provider, int status, const HttpFields& headers);
// A create's refusal rules out this deployment, not the request: what is wrong with the request
// for this backend (an image it lacks, a size, a name) becomes no_capacity, so that another tries,
// and so does a 429 that names no time to wait.
Error refused_create(Error error);
// What ends a create is its caller's own limit per attempt; this is when nobody waits any more.
inline constexpr auto kCreateDeadline = std::chrono::minutes(2);

// JSON over HTTP with one upstream. Errors carry the provider's name. A vendor's body never goes
// into a message; shortened it goes to the log, unless something was sent: vendors repeat what they
// refuse, and that has tenants' secrets. Then the log has what stands there as a code.
class RestApi {
 public:
  // Turns a refusal into the Error to throw; a provider with an error document of its own gives
  // one.
  using ErrorReader = Error (*)(std::string_view provider, const HttpReply& reply);

  RestApi(HttpClient& http, RestTarget target, ErrorReader read_error = nullptr);

  // Any 2xx as JSON (null when empty). Throws what error_of_status says for others.
  Task<Json> call(RestCall call);
  // The same, empty for 404 and 410.
  Task<std::optional<Json>> find(RestCall call);
  // The reply whatever its status.
  Task<HttpReply> send(RestCall call);
  // A 2xx whose body is pulled.
  Task<std::unique_ptr<HttpStream>> stream(RestCall call);

  // call() of a create: its deadline is kCreateDeadline, its refusal what refused_create says.
  Task<Json> create(RestCall call);
  Task<Json> get(std::string path);
  Task<Json> post(std::string path, Json body);
  Task<void> remove(std::string path);  // 404 counts as removed

  const RestTarget& target() const { return target_; }
  // The Error of a reply, logged. `sent`: the call had a body.
  Error failure(const HttpReply& reply, std::string_view path, bool sent = false) const;

 private:
  HttpCall to_http(RestCall call) const;

  HttpClient& http_;
  const RestTarget target_;
  ErrorReader read_error_;
};

// Percent-encodes everything but unreserved characters, for one path segment or query value.
std::string percent_encode(std::string_view text);

}  // namespace sandgate
