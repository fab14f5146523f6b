#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "local/egress/response_head.hpp"
#include "local/egress/response_span.hpp"
#include "local/egress/websocket_parser.hpp"

namespace sandgate::egress {

// Incremental parser that splits an HTTP/1 answer into content and the framing of its chunks, or of
// the WebSocket that it switches to. What a size line may hold besides the size (extensions, white
// space, leading zeros) is dropped, so that what is passed on can be read in one way only. Trailers
// and whatever follows them are content. Header fields and trailers over several lines are not
// understood: a client joins what the lines hold.
class ResponseParser {
 public:
  // Classifies a prefix of `bytes`, which are not empty. The next call continues after that prefix.
  // Once something is lost, everything is.
  ResponseSpan next(std::string_view bytes);
  // Whether the last chunk has been read. Where there are no chunks, others know the end.
  bool is_behind_chunks() const { return state_ == State::trailers; }

 private:
  enum class State {
    head,
    size,
    extension,
    size_end,
    data,
    data_cr,
    data_lf,
    trailers,
    rest,
    websocket,
    lost
  };
  ResponseSpan read_head(std::string_view bytes);
  ResponseSpan read_trailers(std::string_view bytes);
  ResponseSpan read_line(char next);  // the next character of what lies between two chunks
  ResponseSpan read_size(char next);
  ResponseSpan expect(char wanted, char next, State then);
  ResponseSpan fail();
  State after_head() const;

  State state_ = State::head;
  std::string head_;  // what was read of it, or the last byte of the trailers
  uint64_t left_ = 0;  // bytes of the chunk still to come
  int digits_ = 0;  // of its size, without leading zeros
  bool zero_ = false;  // its size begins with a zero
  size_t dropped_ = 0;  // from its line
  WebSocketParser websocket_;
};

}  // namespace sandgate::egress
