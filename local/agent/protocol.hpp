#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The words between the agent inside a sandbox and its client outside: one connection is one
// operation. The client sends a request, then what the operation streams in; the agent answers
// with frames and closes. A frame is {u32 little-endian payload length, u8 type, payload}.
namespace sandgate::agent {

constexpr int kProtocolVersion = 1;
constexpr size_t kHeaderBytes = 5;
constexpr size_t kMaxPayload = 64 * 1024;
constexpr size_t kOutputPrefix = 9;  // of an output frame: u8 channel, u64 offset after its bytes
constexpr size_t kMaxRequest = 2 * 1024 * 1024;  // all frames of one request together
constexpr int kSocketBytes = 512 * 1024;  // what waits between the ends of a connection
constexpr size_t kMaxList = 32 * 1024 * 1024;  // all frames of one list together

enum class FrameType : uint8_t {
  request_part = 1,  // a piece of a request too long for one frame
  request = 2,  // JSON: the whole request or its last piece
  reply = 3,  // JSON: the operation was accepted, or its only answer
  error = 4,  // JSON {code, message, path?}: the last frame
  items = 5,  // JSON array: a piece of a list
  output = 6,  // channel, offset, bytes of a process
  exit = 7,  // JSON: how the process ended; the last frame
  // Raw: of a file, an archive or standard input. None at all, of the first two: what is made from
  // now on is to be on the disk before it is acknowledged.
  bytes = 8,
  end = 9,  // empty: no more bytes or items
};

struct Frame {
  FrameType type;
  std::string_view payload;  // valid until the parser's next prepare()
};

// Output as carried by FrameType::output.
struct Output {
  uint8_t channel = 1;  // 1 stdout or terminal, 2 stderr
  uint64_t end_offset = 0;
  std::string_view bytes;
};

// Turns bytes into frames: incremental, its memory bounded by the given buffer or one frame.
// Throws Error(invalid) for a length or type that cannot be.
class FrameParser {
 public:
  explicit FrameParser(size_t buffer = kHeaderBytes + kMaxPayload);

  // Room for more bytes, never empty; earlier frames' payloads end here.
  std::span<char> prepare();
  void commit(size_t bytes);  // this many of the room were filled
  std::optional<Frame> next();
  bool mid_frame() const { return begin_ < end_; }  // an end now would cut a frame

 private:
  size_t limit_;
  std::vector<char> buffer_;
  size_t begin_ = 0, end_ = 0;
  bool filled_ = false;
};

// Writes a header for a payload of the given length (at most kMaxPayload).
void put_header(char* into, FrameType type, size_t payload);
// A whole frame; longer payloads are a programming error.
std::string frame(FrameType type, std::string_view payload);
// A request as one or several frames. Throws Error(too_large) beyond kMaxRequest.
std::string request_frames(std::string_view json);

void put_output_prefix(char* into, uint8_t channel, uint64_t end_offset);
Output parse_output(std::string_view payload);  // throws Error(invalid)

}  // namespace sandgate::agent
