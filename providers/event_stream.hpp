#pragma once
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "providers/sandbox.hpp"

// Streams of records over HTTP: lines (NDJSON) and server-sent events. Both are bounded: a record
// that does not end within the limit is Error(unavailable), since the upstream broke the protocol.
namespace sandgate {

// Cuts bytes into lines without their ending (LF, CRLF or CR).
class LineSplitter {
 public:
  explicit LineSplitter(size_t max_line = 4 << 20) : max_line_(max_line) {}
  void add(std::string_view bytes);
  std::optional<std::string> next();
  // What is left when the stream ended without a line ending; empty when nothing is.
  std::optional<std::string> rest();

 private:
  size_t max_line_;
  std::string open_;  // the line that has not ended yet
  bool after_cr_ = false;
  std::deque<std::string> lines_;
};

struct ServerEvent {
  std::string name = "message";
  std::string id;  // the last one seen, as the standard has it
  std::string data;
};

// Cuts bytes into server-sent events (WHATWG HTML, section 9.2). Comments and `retry` are skipped.
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

// Events pulled from a stream of bytes.
class EventReader {
 public:
  using Event = ServerEvent;
  explicit EventReader(std::unique_ptr<ByteSource> source);
  // Empty at the end; an event cut off by it does not count.
  Task<std::optional<ServerEvent>> next();

 private:
  std::unique_ptr<ByteSource> source_;
  EventSplitter splitter_;
  std::string buffer_;
};

}  // namespace sandgate
