#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The wire protocol between the agent inside a sandbox and its client outside. Each connection
// carries one operation: the client sends a request, then any streamed input; the agent answers
// with frames and closes. A frame is {u32 little-endian payload length, u8 type, payload}.
namespace sandgate::agent {

constexpr int kProtocolVersion = 1;
constexpr size_t kHeaderBytes = 5;
constexpr size_t kMaxPayload = 64 * 1024;
constexpr size_t kOutputPrefix = 9;  // of an output frame: u8 channel, u64 end offset
constexpr size_t kMaxRequest = 2 * 1024 * 1024;  // all frames of one request together
constexpr int kSocketBytes = 512 * 1024;  // send buffer of a connection's socket
constexpr size_t kMaxList = 32 * 1024 * 1024;  // all frames of one list together

enum class FrameType : uint8_t {
  request_part = 1,  // a piece of a request too long for one frame
  request = 2,  // JSON: the whole request or its last piece
  reply = 3,  // JSON: the operation was accepted, or its result
  error = 4,  // JSON {code, message, path?}: the last frame
  items = 5,  // JSON array: a piece of a list
  output = 6,  // channel, end offset and bytes of a process's output
  exit = 7,  // JSON: how the process ended; the last frame
  // Raw bytes of a file, an archive or standard input. In an upload of a file or archive, an empty
  // frame asks that files completed from then on are synced to disk before they are acknowledged;
  // before the reply to a request about a tree, it says that the work goes on.
  bytes = 8,
  end = 9,  // empty: no more bytes or items
};

struct Frame {
  FrameType type;
  std::string_view payload;  // valid until the parser's next prepare()
};

// The payload of a FrameType::output frame.
struct Output {
  uint8_t channel = 1;  // 1 stdout or terminal, 2 stderr
  uint64_t end_offset = 0;
  std::string_view bytes;
};

// Incremental parser of frames. Its buffer grows to at most `buffer` bytes, or one whole frame if
// that is more. Throws Error(invalid) for an impossible length or type.
class FrameParser {
 public:
  explicit FrameParser(size_t buffer = kHeaderBytes + kMaxPayload);

  // Returns free space for more bytes, never empty. Invalidates the payloads of earlier frames.
  // Throws Error(invalid) when the buffer is full of frames that were not taken.
  std::span<char> prepare();
  void commit(size_t bytes);  // the first `bytes` bytes of the space were filled
  std::optional<Frame> next();  // empty: more bytes are needed

 private:
  size_t limit_;
  std::vector<char> buffer_;
  size_t begin_ = 0, end_ = 0;
  bool filled_ = false;
};

// Writes a header for a payload of the given length (at most kMaxPayload).
void put_header(char* into, FrameType type, size_t payload);
// Returns a whole frame; a payload above kMaxPayload is a programming error.
std::string frame(FrameType type, std::string_view payload);
// Returns a request as one or several frames. Throws Error(too_large) beyond kMaxRequest.
std::string request_frames(std::string_view json);

void put_output_prefix(char* into, uint8_t channel, uint64_t end_offset);
Output parse_output(std::string_view payload);  // throws Error(invalid)

}  // namespace sandgate::agent
