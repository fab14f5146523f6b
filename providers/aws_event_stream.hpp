#pragma once
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "gateway/core/error.hpp"
#include "providers/sandbox.hpp"

// AWS's binary event streams (application/vnd.amazon.eventstream), as a client. Bounded, and both
// checksums of a message are checked: what does not hold is Error(unavailable).
namespace sandgate::aws {

struct EventMessage {
  std::map<std::string, std::string> headers;  // those that are text
  std::string payload;
};

// Cuts bytes into messages.
class EventMessageSplitter {
 public:
  explicit EventMessageSplitter(size_t max_message = 8 << 20) : max_message_(max_message) {}
  void add(std::string_view more);
  std::optional<EventMessage> next();
  // Whether a message has begun and not ended.
  bool is_inside() const { return !open_.empty(); }

 private:
  size_t max_message_;
  std::string open_;
  std::deque<EventMessage> messages_;
};

// The events of an answer. next() is empty after the end; throws what an exception among them
// says, and Error(unavailable) when the stream broke off inside a message. Whether an end is the
// right one is the caller's to know: the framing has no last message.
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

// "ThrottlingException", in any case of its first letter, as what the caller can do. An unknown
// name is unavailable.
Error error_of_exception(std::string_view provider, std::string_view name);

}  // namespace sandgate::aws
