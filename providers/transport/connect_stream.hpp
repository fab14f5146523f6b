#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "providers/transport/http_client.hpp"
#include "providers/transport/rest_api.hpp"

// The client side of the Connect protocol (connectrpc.com) with its JSON codec: enveloped stream
// messages and errors by name. A message above the size limit is Error(unavailable).
namespace sandgate::connect {

// Wraps a message in an envelope. `last` marks the end of a response stream.
std::string envelope(const Json& message, bool last = false);

struct Message {
  bool last = false;  // the end of the stream; its JSON may be {"error":{…}}
  Json json;
};

// Splits bytes into messages. Throws Error(unavailable) for malformed ones.
class EnvelopeSplitter {
 public:
  explicit EnvelopeSplitter(size_t max_message = 4 << 20) : max_message_(max_message) {}
  void add(std::string_view bytes);
  std::optional<Message> next();

 private:
  size_t max_message_;
  std::string open_;
  std::deque<Message> messages_;
};

// Reads the messages of a streamed answer. next() returns empty after the end. It throws the error
// of the end message, or Error(unavailable) if the stream breaks off before that message.
class MessageReader {
 public:
  MessageReader(std::string provider, std::unique_ptr<HttpStream> source);
  Task<std::optional<Json>> next();

 private:
  const std::string provider_;
  std::unique_ptr<HttpStream> source_;
  EnvelopeSplitter splitter_;
  std::string buffer_;
  bool ended_ = false;
};

// Converts {"code":"not_found","message":…} to an Error; unknown codes are unavailable.
Error error_of(std::string_view provider, const Json& document);
// For RestApi: a Connect error if the body is one, otherwise an Error by status. Takes the time to
// wait from Retry-After; "resource_exhausted" with one is rate_limited, otherwise quota_exceeded.
Error read_error(std::string_view provider, const HttpReply& reply);

}  // namespace sandgate::connect
