#pragma once
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "providers/sandbox.hpp"

// Streams of records over HTTP: lines (NDJSON) and server-sent events. A record above the size
// limit is Error(unavailable).
namespace sandgate {

// Splits bytes into lines, without their endings (LF, CRLF or CR).
class LineSplitter {
 public:
  explicit LineSplitter(size_t max_line = 4 << 20) : max_line_(max_line) {}
  void add(std::string_view bytes);
  std::optional<std::string> next();
  // Returns the unterminated last line once the stream has ended; empty if there is none.
  std::optional<std::string> rest();

 private:
  size_t max_line_;
  std::string open_;  // the unterminated line
  bool after_cr_ = false;
  std::deque<std::string> lines_;
};

struct ServerEvent {
  std::string name = "message";
  std::string id;  // the last id of the stream, as the standard says
  std::string data;
};

// Splits bytes into server-sent events (WHATWG HTML, section 9.2). Skips comments and `retry`.
class EventSplitter {
 public:
  explicit EventSplitter(size_t max_event = 4 << 20) : max_event_(max_event), lines_(max_event) {}
  void add(std::string_view bytes);
  std::optional<ServerEvent> next();

 private:
  void take_line(std::string_view line);

  size_t max_event_;
  LineSplitter lines_;
  ServerEvent open_;
  bool has_data_ = false, first_line_ = true;
  std::deque<ServerEvent> events_;
};

// Reads the events of a byte stream.
class EventReader {
 public:
  using Event = ServerEvent;
  explicit EventReader(std::unique_ptr<ByteSource> source);
  // Returns the next event; empty at the end. An unterminated last event is dropped.
  Task<std::optional<ServerEvent>> next();

 private:
  std::unique_ptr<ByteSource> source_;
  EventSplitter splitter_;
  std::string buffer_;
};

}  // namespace sandgate
