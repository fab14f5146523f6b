#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "gateway/core/json_reader.hpp"
#include "gateway/core/percent.hpp"
#include "gateway/core/secret.hpp"
#include "providers/transport/http_client.hpp"

namespace sandgate {

// How to reach an upstream; shared by all calls of a deployment.
struct RestTarget {
  std::string provider;  // named in errors
  std::string base_url;  // without a trailing slash
  std::string auth_header = "Authorization";
  Secret auth_value;  // "Bearer …"; empty: the header is not sent
  bool allow_private = false;
  HttpFields headers;  // further fields of every call
  std::shared_ptr<const AwsSigner> signer;  // replaces auth_value
  std::shared_ptr<const TlsIdentity> tls;  // as in HttpCall
};

// Returns the value of an Authorization header.
Secret bearer(const Secret& token);

struct RestCall {
  std::string method = "GET";
  std::string path;  // with the query, already percent-encoded
  std::optional<Json> json;
  std::string bytes;  // instead of json
  ByteSource* upload = nullptr;  // instead of json
  HttpFields headers;
  std::chrono::milliseconds deadline{10000};
  std::chrono::seconds silence{0};
  // Bytes left for the answer; call() and send() subtract the answer's size.
  size_t* budget = nullptr;

  // Set deadline and silence for a call that receives a file with stream() or stream_range(), or
  // sends one: it may last as long as bytes flow.
  void takes_file();
  void sends_file(ByteSource& bytes);
};

// The time to wait that a reply's Retry-After (seconds or a date) or Retry-After-Ms asks for, at
// most an hour; empty: none, or not understood.
std::optional<std::chrono::milliseconds> retry_after_of(const HttpFields& headers);

// A part of a file that a server sends, and the header fields of the answer. Without bytes the file
// ends before the part.
struct FilePart {
  HttpFields headers;
  std::unique_ptr<ByteSource> bytes;
};

// Names the provider in an error that has none yet, as those of HttpClient and WebSocket have.
Error attributed_to(Error error, const std::string& provider);

// Maps an unsuccessful status to an Error with the time of retry_after_of().
// 400 406 416 422 invalid · 401 403 unavailable with details {"credentials":"refused"} ·
// 402 no_capacity · 404 410 not_found (unavailable for a page of HTML) · 405 501 unsupported · 408
// timeout · 409 conflict · 413 too_large · 429 rate_limited · 507 quota_exceeded · everything else
// unavailable
Error error_of_status(std::string_view provider, int status, const HttpFields& headers);
// Converts the error of a create: a refusal caused by the request (missing image, size, name) or a
// 429 without a time to wait becomes no_capacity, so that placement tries another deployment.
Error refused_create(Error error);
// Upper limit for a create; placement normally ends it earlier, with its limit per attempt.
inline constexpr auto kCreateDeadline = std::chrono::minutes(2);

// A client for one upstream's JSON API. Errors carry the provider's name and never the vendor's
// body. A refused call is logged with the start of the body. If the call had a body, only the error
// codes are logged, because vendors echo input, which may contain tenants' secrets.
class RestApi {
 public:
  // Turns a refusal into an Error, for providers with an error document of their own.
  using ErrorReader = Error (*)(std::string_view provider, const HttpReply& reply);

  RestApi(HttpClient& http, RestTarget target, ErrorReader read_error = nullptr);

  // Returns a 2xx answer as JSON (null if empty). Throws Error for other statuses.
  Task<Json> call(RestCall call);
  // The same, but empty for Error(not_found), which 404 and 410 are by default.
  Task<std::optional<Json>> find(RestCall call);
  // Returns the reply, whatever its status. Of a refusal's body at most 64 KiB.
  Task<HttpReply> send(RestCall call);
  // parse_answer() of a reply's body. A large one of a tenant's upstream is parsed on a thread of
  // its own, since that takes many times as long as receiving it.
  Task<Json> parse(std::string body) const;
  // Returns a 2xx reply whose body is pulled.
  Task<std::unique_ptr<HttpStream>> stream(RestCall call);
  // The same for a part of a file, asked for with a Range header. Of a whole file the part is taken
  // here. Throws Error(unavailable) if another part is sent.
  Task<FilePart> stream_range(RestCall call, ByteRange range);

  // call() with kCreateDeadline; errors are passed through refused_create().
  Task<Json> create(RestCall call);
  Task<Json> get(std::string path);
  Task<Json> post(std::string path, Json body);
  Task<void> remove(std::string path);  // not_found counts as removed

  const RestTarget& target() const { return target_; }
  // Logs a refusal and returns its Error. `sent`: the call had a body.
  Error failure(const HttpReply& reply, std::string_view path, bool sent = false) const;

 private:
  HttpCall to_http(RestCall call) const;
  // The reply, whatever its status.
  Task<std::unique_ptr<HttpStream>> open(RestCall call);

  HttpClient& http_;
  const RestTarget target_;
  ErrorReader read_error_;
};

}  // namespace sandgate
