#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gateway/cli/options/settings.hpp"
#include "gateway/core/json_reader.hpp"
#include "gateway/core/percent.hpp"

namespace sandgate::cli {

// A source of bytes to send: fills `into` and returns the number of bytes, 0 at the end.
using Upload = std::function<size_t(char* into, size_t size)>;
using Download = std::function<void(std::string_view bytes)>;
// Called about once a second and for each piece, with the total bytes sent and received. What it
// throws ends the transfer.
using ProgressCallback = std::function<void(uint64_t sent, uint64_t received)>;

// For streams of events, in which a gateway gives a sign of life every 15 seconds.
inline constexpr std::chrono::seconds kStreamSilence{60};

struct Call {
  std::string method = "GET";
  std::string path;  // "/v1/…", percent-encoded, with its query
  std::optional<Json> json;
  std::string content_type;  // of `upload` or `text`
  std::optional<std::string> text;
  Upload upload;
  std::optional<uint64_t> upload_size;  // absent: chunked
  std::string accept;
  Download download;  // if set, receives the body of an answer below 300
  ProgressCallback on_progress;
  // After that long without a byte of an answer that has begun, the call fails with
  // Error(unavailable). 0: it waits as long as the connection lives.
  std::chrono::seconds silence{0};
  int patience = 0;  // interrupts that do not end it yet
  // It makes something: it has an Idempotency-Key, and if the connection breaks before the answer
  // is complete, it is sent again with that, for some seconds. Not with `upload` or `download`.
  bool once = false;
};

struct Reply {
  long status = 0;
  std::map<std::string, std::string, std::less<>> headers;  // names in lower case
  std::string body;
  Json json() const;  // throws Error(internal) if the body is not JSON
};

// A blocking HTTP client of one gateway. Every failure is an Error whose one-line message says what
// happened and what to do, with the gateway's code and request id; its details are the problem
// document. Server certificates are verified against the system's authorities and those in the file
// that SSL_CERT_FILE names.
class Client {
 public:
  // `key_variable` is what messages call the setting that the key comes from.
  Client(std::string url, Secret key, std::string tenant,
         const char* key_variable = "SANDGATE_API_KEY");

  // Throws an Error for answers of status 400 and above.
  Reply call(Call call) const;
  Json get(std::string path) const;
  Json post(std::string path, Json body) const;
  Json create(std::string path, Json body) const;  // a POST that is carried out once
  Json put(std::string path, Json body) const;
  void remove(std::string path) const;
  // Returns the items of all pages (following next_cursor), at most `most`.
  std::vector<Json> all(std::string path, size_t most = SIZE_MAX) const;

  const std::string& url() const { return url_; }
  const Secret& key() const { return key_; }
  const std::string& tenant() const { return tenant_; }

 private:
  Reply send(Call& call, const std::string& idempotency_key) const;

  std::string url_;
  Secret key_;
  std::string tenant_;
  const char* key_variable_;
};

// Returns "?name=value&…" of the parameters that are not empty; empty if all are.
std::string query_of(std::initializer_list<std::pair<const char*, const std::string&>> parameters);

// Returns "/v1/sandboxes/<id>", the prefix of all paths of one sandbox.
std::string sandbox_path(const std::string& id);

}  // namespace sandgate::cli
