#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/core/connection_names.hpp"

namespace sandgate::egress {

struct HeaderField {
  std::string name, value;  // name as sent; value without surrounding white space
};

enum class BodyKind { none, sized, chunked };

// The head of an HTTP/1 request. It is parsed so strictly that no other parser can disagree about
// where it ends, how long its body is or which host it is for.
struct RequestHead {
  std::string method, target;
  int minor_version = 1;
  std::vector<HeaderField> fields;
  BodyKind body = BodyKind::none;
  uint64_t body_bytes = 0;  // when sized
  bool upgrade = false;  // to a WebSocket, according to both Upgrade and Connection

  // The value of a field, by its name in lower case; empty when absent.
  std::optional<std::string_view> field(std::string_view lower_name) const;
};

enum class HeadState { incomplete, complete, malformed };

struct HeadResult {
  HeadState state = HeadState::incomplete;
  RequestHead head;  // when complete
  size_t bytes = 0;  // length of the head, including its empty line
  const char* reason = "";  // when malformed
};

inline constexpr size_t kMaxHeadBytes = 32 * 1024;

// Parses all bytes received so far. A head still incomplete at kMaxHeadBytes is malformed.
HeadResult parse_request_head(std::string_view bytes);

// Converts a target in absolute form, such as "https://host:port/path" for the scheme "https://",
// to its path and returns the authority. Returns empty and changes nothing for any other target.
std::optional<std::string> take_authority(RequestHead& head, std::string_view scheme);

// Whether the first bytes of a connection start an HTTP/1 request; empty when more are needed.
std::optional<bool> looks_like_http(std::string_view bytes);

// The names in the head's Connection fields, which must stay where they are; empty when too many.
std::optional<ConnectionNames> connection_names(const RequestHead& head);

// Incremental parser of a chunked body, as strict as that of the head: no trailers, and at most 256
// characters of extensions per chunk.
class ChunkedBody {
 public:
  // Returns how many of the bytes belong to the body: fewer than given only once done() or bad().
  size_t take(std::string_view bytes);
  bool done() const { return state_ == State::done; }
  bool bad() const { return state_ == State::bad; }

 private:
  enum class State {
    size,
    extension,
    size_end,
    data,
    data_cr,
    data_lf,
    last_cr,
    last_lf,
    done,
    bad
  };
  void step(char c);
  void size_digit(char c);

  State state_ = State::size;
  uint64_t left_ = 0;
  int digits_ = 0;
  int extension_ = 0;  // length of the current chunk's extension
};

}  // namespace sandgate::egress
