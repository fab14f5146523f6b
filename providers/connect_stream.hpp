#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "providers/http_client.hpp"
#include "providers/rest_api.hpp"

// The Connect protocol (connectrpc.com) with its JSON codec: enveloped messages of a stream, and,
// as a client reads them, errors by name. Bounded: a message beyond the limit is
// Error(unavailable).
namespace sandgate::connect {

// A message in its envelope: of a request's body, or of an answer, which a `last` one ends.
std::string envelope(const Json& message, bool last = false);

struct Message {
  bool last = false;  // the end of the stream: its JSON may hold {"error":{…}}
  Json json;
};

// Cuts bytes into envelopes. Throws Error(unavailable) for what is none.
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

// The messages of a stream's answer. next() is empty after the end; throws what the end says, and
// Error(unavailable) when the stream broke off before it.
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

// {"code":"not_found","message":…} as what the caller can do. An unknown code is unavailable.
Error error_of(std::string_view provider, const Json& document);
// For RestApi: a Connect error when the body is one, otherwise by status.
Error read_error(std::string_view provider, const HttpReply& reply);

}  // namespace sandgate::connect
