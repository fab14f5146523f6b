#pragma once
#include <string>
#include <string_view>

namespace sandgate::egress {

// The begin of an HTTP/1 answer, up to the end of its last head. The client's connection ends with
// the answer, whatever the host does with its own, so that head says "Connection: close" instead of
// what the host says: a client that does not know would send its next request there, in vain. A
// switch to anything but the WebSocket that was asked for is wrong: nothing behind it is inspected.
class AnswerBegin {
 public:
  explicit AnswerBegin(bool asks_for_websocket) : asks_for_websocket_(asks_for_websocket) {}

  // Takes what the host sends. Returns what may be passed on: interim heads and, once is_over(),
  // everything; nothing of what is wrong.
  std::string take(std::string_view bytes);
  // Returns what was taken of a head that is not whole, for a host that has ended its connection.
  std::string rest();

  bool is_over() const { return over_; }
  bool switches() const { return switches_; }  // to the WebSocket; once it is over
  std::string_view wrong() const { return wrong_; }  // why it is not passed on; else empty

 private:
  std::string take_head(size_t end);

  const bool asks_for_websocket_;
  std::string begin_;  // of a head
  size_t read_ = 0;  // of it, which do not hold its end
  bool over_ = false, switches_ = false;
  std::string_view wrong_;
};

}  // namespace sandgate::egress
