#pragma once
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "gateway/core/error.hpp"
#include "providers/sandbox.hpp"

// A reader of AWS's binary event streams (application/vnd.amazon.eventstream). Message size is
// limited and both checksums are verified; a violation is Error(unavailable).
namespace sandgate::aws {

struct EventMessage {
  std::map<std::string, std::string> headers;  // those of type string
  std::string payload;
};

// Splits bytes into messages.
class EventMessageSplitter {
 public:
  explicit EventMessageSplitter(size_t max_message = 8 << 20) : max_message_(max_message) {}
  void add(std::string_view more);
  std::optional<EventMessage> next();
  // Whether the bytes so far end inside a message.
  bool is_inside() const { return !open_.empty(); }

 private:
  size_t max_message_;
  std::string open_;
  std::deque<EventMessage> messages_;
};

// Reads the events of an answer. next() returns empty at the end. It throws the Error of an
// exception message, and Error(unavailable) if the stream breaks off inside a message. The framing
// has no end marker, so the caller must check whether the stream is complete.
class EventMessageReader {
 public:
  struct Event {
    std::string type, payload;
  };
  EventMessageReader(std::string provider, std::unique_ptr<ByteSource> source);
  Task<std::optional<Event>> next();

 private:
  const std::string provider_;
  const std::unique_ptr<ByteSource> source_;
  EventMessageSplitter splitter_;
  std::string buffer_;
};

// Converts an exception's name ("ThrottlingException", first letter in either case) to an Error;
// unknown names are unavailable.
Error error_of_exception(std::string_view provider, std::string_view name);

}  // namespace sandgate::aws
