#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/cli/settings.hpp"
#include "gateway/core/json_reader.hpp"

namespace sandgate::cli {

// Set by the first Ctrl-C; a transfer that runs ends with Error(timeout) "interrupted".
bool interrupted();
// Holds Ctrl-C and SIGTERM back until catch_interrupts().
void hold_interrupts();
// Makes them set that flag instead of ending the program.
void catch_interrupts();
// Forgets the flag, so that what must still be done (a kill) can be done; a second Ctrl-C ends the
// program at once.
void end_interrupt();

// Bytes to send, pulled piece by piece: fills `into`, answers how many, 0 at the end.
using Upload = std::function<size_t(char* into, size_t size)>;
using Download = std::function<void(std::string_view bytes)>;
// Called about once a second and for each piece, with the bytes sent and received so far.
using Watcher = std::function<void(uint64_t sent, uint64_t received)>;

struct Call {
  std::string method = "GET";
  std::string path;  // "/v1/…", encoded, with its query
  std::optional<Json> json;
  std::string content_type;  // of `upload` or `text`
  std::optional<std::string> text;
  Upload upload;
  std::optional<uint64_t> upload_size;  // absent: chunked
  std::string accept;
  Download download;  // set: the body of a good answer goes here
  Watcher watcher;
};

struct Reply {
  long status = 0;
  std::map<std::string, std::string, std::less<>> headers;  // names in lower case
  std::string body;
  Json json() const;  // throws Error(internal) when the answer is not JSON
};

// A blocking client of one gateway. Every failure is an Error whose message says in one line what
// happened and what to do next, with the gateway's code and request id. A gateway's certificate is
// checked against the system's authorities and those in the file that SSL_CERT_FILE names.
class Client {
 public:
  Client(std::string url, Secret key, std::string tenant);

  // Throws for an answer of 400 and above.
  Reply call(Call call) const;
  Json get(std::string path) const;
  Json post(std::string path, Json body) const;
  Json put(std::string path, Json body) const;
  void remove(std::string path) const;
  // Follows next_cursor to the last page, or to `most` items.
  std::vector<Json> all(std::string path, size_t most = SIZE_MAX) const;

  const std::string& url() const { return url_; }
  const Secret& key() const { return key_; }
  const std::string& tenant() const { return tenant_; }

 private:
  std::string url_;
  Secret key_;
  std::string tenant_;
};

// Percent-encodes everything but unreserved characters.
std::string encoded(std::string_view text);
// "/v1/sandboxes/<id>", which everything about one sandbox is below.
std::string sandbox_path(const std::string& id);

}  // namespace sandgate::cli
