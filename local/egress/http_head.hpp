#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sandgate::egress {

struct HeaderField {
  std::string name, value;  // name as sent; value without the white space around it
};

enum class BodyKind { none, sized, chunked };

// The head of one HTTP/1 request, read so strictly that no two readers can disagree about where it
// ends, how long its body is or which host it is for.
struct RequestHead {
  std::string method, target;
  int minor_version = 1;
  std::vector<HeaderField> fields;
  BodyKind body = BodyKind::none;
  uint64_t body_bytes = 0;  // when sized
  bool upgrade = false;  // to a WebSocket: Upgrade says so and Connection that it is meant

  // The value of a field, by its name in lower case; empty when absent.
  std::optional<std::string_view> field(std::string_view lower_name) const;
};

enum class HeadState { incomplete, complete, malformed };

struct HeadResult {
  HeadState state = HeadState::incomplete;
  RequestHead head;  // when complete
  size_t bytes = 0;  // of the head, with its empty line
  const char* reason = "";  // when malformed
};

inline constexpr size_t kMaxHeadBytes = 32 * 1024;

// Looks at all bytes there are so far. incomplete beyond kMaxHeadBytes is malformed.
HeadResult parse_request_head(std::string_view bytes);

// Takes "https://host:port/path" apart, given the scheme "https://": the head's target becomes the
// path, and the authority is returned. Empty, and nothing is changed, when the target is not of
// this form.
std::optional<std::string> take_authority(RequestHead& head, std::string_view scheme);

// Whether the first bytes of a connection begin an HTTP/1 request; empty: too few to tell.
std::optional<bool> looks_like_http(std::string_view bytes);

std::string lower_case(std::string_view text);

// Follows a chunked body, byte by byte as strictly as the head: no trailers, and extensions of at
// most 256 visible characters a chunk.
class ChunkedBody {
 public:
  // How many of the bytes belong to the body; fewer than given only at its end or when bad.
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
  int extension_ = 0;  // characters of this chunk's
};

}  // namespace sandgate::egress
