#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gateway/core/async.hpp"
#include "gateway/core/secret.hpp"
#include "providers/sandbox.hpp"

namespace sandgate {

using HttpFields = std::vector<std::pair<std::string, std::string>>;

// Returns the first field of that name; names are compared case-insensitively.
std::optional<std::string_view> find_field(const HttpFields& fields, std::string_view name);

// Throws Error(unavailable) if a name or value contains CR, LF or NUL, since some values come from
// upstreams and must not inject further fields.
void check_fields(const HttpFields& fields);

// Keys and scope for AWS Signature Version 4.
struct AwsSigner {
  std::string region, service;
  Secret key_id, key;
};

// Certificates of a TLS connection that differ from the default (system authorities, no client
// certificate). All are PEM texts.
struct TlsIdentity {
  std::string authorities;  // replace the system's; empty: use the system's
  std::string certificate;  // of the client, with its chain; empty: none
  Secret key;  // the certificate's private key
};

// A request to an upstream. Redirects are returned, not followed. If a pooled connection ends
// before the reply begins, the request is sent again unless it is a POST or PATCH without an
// Idempotency-Key.
struct HttpCall {
  std::string method = "GET";
  std::string url;  // http or https
  HttpFields headers;
  std::string body;
  // Sent chunked instead of `body` by call(); must outlive it. stream() sends none.
  ByteSource* upload = nullptr;
  std::chrono::milliseconds connect_timeout{5000};
  // Limit for the whole reply of call(), or for the headers of stream(); 0: none.
  std::chrono::milliseconds deadline{10000};
  // Ends a transfer in which the other side is silent and not kept waiting by this one; 0: never.
  std::chrono::seconds silence{0};
  size_t max_body = 8 << 20;  // for call(); a larger reply is refused
  // Uses HTTP/2. Over plain http this needs no negotiation, and each call has its own connection.
  bool http2 = false;
  // Allows loopback, private, link-local and metadata addresses, for the operator's upstreams.
  bool allow_private = false;
  // Signs `headers` and `body`, not `upload`. The query must have one parameter or sorted ones.
  std::shared_ptr<const AwsSigner> signer;
  std::shared_ptr<const TlsIdentity> tls;  // null: system authorities, no client certificate
  std::string peer = "the backend";  // name of the upstream in messages
};

struct HttpReply {
  int status = 0;
  HttpFields headers;
  std::string body;
  HttpFields trailers;
};

// A reply whose body is pulled. The transfer pauses while nobody reads and ends when the stream is
// dropped.
class HttpStream : public ByteSource {
 public:
  virtual int status() const = 0;
  virtual const HttpFields& headers() const = 0;
  // The trailers; complete once read() has returned 0.
  virtual const HttpFields& trailers() const;
};

// An HTTP client. Throws Error(unavailable) for a failed connection, an aborted transfer, a refused
// address or a reply above max_body, and Error(timeout). A reply of any status is returned. Calls
// honour cancellation at once.
class HttpClient {
 public:
  virtual ~HttpClient() = default;
  virtual Task<HttpReply> call(HttpCall call) = 0;
  virtual Task<std::unique_ptr<HttpStream>> stream(HttpCall call) = 0;
};

}  // namespace sandgate
