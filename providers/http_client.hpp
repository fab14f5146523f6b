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

// The first field of that name, case-insensitive.
std::optional<std::string_view> find_field(const HttpFields& fields, std::string_view name);

// Throws Error(unavailable) where a field would be more than one: some come from upstreams.
void check_fields(const HttpFields& fields);

// Who signs a request, and for what, with AWS Signature Version 4.
struct AwsSigner {
  std::string region, service;
  Secret key_id, key;
};

// What a TLS connection trusts and shows where that is not this machine's authorities and nothing.
// PEM texts.
struct TlsIdentity {
  std::string authorities;  // instead of the machine's; empty: those
  std::string certificate;  // the client's, with its chain; empty: none
  Secret key;  // the certificate's
};

// One request to an upstream. Redirects are answers, not followed. A POST or PATCH is sent once at
// the most; other methods again when a connection from the pool ends before the answer began.
struct HttpCall {
  std::string method = "GET";
  std::string url;  // http or https
  HttpFields headers;
  std::string body;
  ByteSource* upload = nullptr;  // sent instead of `body`, chunked; must outlive the call
  std::chrono::milliseconds connect_timeout{5000};
  // Until the whole reply for call(), until the headers for stream(); 0: none.
  std::chrono::milliseconds deadline{10000};
  // Without a byte either way for so long a stream is dead; whole seconds, 0: never.
  std::chrono::seconds silence{0};
  size_t max_body = 8 << 20;  // call() only; beyond it the reply is refused
  // The other side speaks HTTP/2, also without TLS where there is nothing to agree on it by; there,
  // each call has a connection of its own.
  bool http2 = false;
  // Loopback, private, link-local and metadata addresses may be reached: the operator's upstreams.
  bool allow_private = false;
  // Signs `headers` and `body` too; not `upload`. A query has one parameter, or sorted ones.
  std::shared_ptr<const AwsSigner> signer;
  std::shared_ptr<const TlsIdentity> tls;  // null: the machine's authorities, no certificate
  std::string peer = "the backend";  // what messages call the other side
};

struct HttpReply {
  int status = 0;
  HttpFields headers;
  std::string body;
  HttpFields trailers;
};

// A reply whose body is pulled; the transfer stops when nobody reads. Dropping it ends it.
class HttpStream : public ByteSource {
 public:
  virtual int status() const = 0;
  virtual const HttpFields& headers() const = 0;
  // What came after the body: complete once read() has returned 0.
  virtual const HttpFields& trailers() const;
};

// Throws Error: unavailable (no connection, broken off, address not allowed, reply larger than
// max_body), timeout. Any status is a reply. Honours cancellation at once.
class HttpClient {
 public:
  virtual ~HttpClient() = default;
  virtual Task<HttpReply> call(HttpCall call) = 0;
  virtual Task<std::unique_ptr<HttpStream>> stream(HttpCall call) = 0;
};

}  // namespace sandgate
