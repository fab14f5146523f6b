#pragma once
#include <chrono>
#include <functional>

#include "gateway/core/json_reader.hpp"
#include "gateway/http/body_memory_quota.hpp"
#include "gateway/http/limits.hpp"
#include "gateway/http/request.hpp"
#include "gateway/http/response.hpp"
#include "gateway/http/shared_sink.hpp"

// The server side of the Connect protocol (connectrpc.com) with its JSON codec: unary calls and
// streams.
namespace sandgate::compat::e2b {

// Parses the single message of a request: a JSON body or one envelope. Throws Error(invalid) for a
// malformed message, Error(unsupported) for other codecs and compression.
Json message_of(const http::Request& request);

// Reads the messages of a streamed request, each at most kMaxMessageBytes bytes. They may be as far
// apart as a body may be silent (Limits::body_timeout), but a long one that has begun must arrive
// at the pace.
class MessageSource {
 public:
  static constexpr size_t kMaxMessageBytes = 4 << 20;

  // `body` and `room` must outlive this object. What is held of a message takes room of the tenant.
  MessageSource(ByteSource& body, http::BodyMemoryQuota& room, std::string tenant,
                http::Pace pace = http::Limits().whole_body)
      : body_(body), room_(room), tenant_(std::move(tenant)), pace_(pace) {}
  // Returns empty at the end. Throws Error(invalid), Error(unsupported) for compression,
  // Error(too_large), Error(timeout), or as BodyMemoryQuota::Reservation::grow_to().
  Task<std::optional<Json>> next();

 private:
  Task<bool> hold(size_t bytes);
  Task<void> hold_message(size_t bytes);

  ByteSource& body_;
  http::BodyMemoryQuota& room_;
  const std::string tenant_;
  const http::Pace pace_;
  std::optional<http::BodyMemoryQuota::Reservation> seat_;  // of the current message
  std::string held_;  // bytes read; those before `taken_` are consumed
  size_t taken_ = 0, messages_ = 0;
};

// Throws Error(unsupported) unless the request is an uncompressed stream of JSON messages.
void check_stream(const http::Request& request);

// Reads "Connect-Timeout-Ms", the client's limit for the call, and leaves of it what the answer
// needs to be there in time: 5 %, at most 50 ms. Zero: no limit. Throws Error(invalid).
std::chrono::milliseconds timeout_of(const http::Request& request);

// Reads a `bytes` member of proto3 JSON (base64). Throws Error(invalid) naming the member.
std::string bytes_of(const Json& object, const char* name);
// Reads an integer or its text; 0 if absent. Throws Error(invalid) naming the member.
int64_t number_of(const Json& object, const char* name);
// Whether the member is present and not null.
bool has_member(const Json& object, const char* name);
// Returns the member if it is an object, else an empty object.
Json object_of(const Json& object, const char* name);

// Writes the messages of a streamed answer.
class MessageWriter {
 public:
  explicit MessageWriter(http::SharedSink& sink) : sink_(sink) {}
  Task<void> send(const Json& message);
  Task<void> send_all(const std::vector<Json>& messages);  // in one piece

 private:
  http::SharedSink& sink_;
};

struct MessageStream {
  // Sends messages until it returns. An Error that it throws becomes the end of the stream.
  std::function<Task<void>(MessageWriter&)> produce;
  Json keep_alive_message;  // sent after `interval` of silence
  std::chrono::milliseconds interval{90'000};
  std::chrono::milliseconds limit{0};  // then the stream ends with deadline_exceeded; zero: none
  std::string request_id;
};
http::Response message_stream(MessageStream stream);
// A streamed answer of one empty message.
http::Response empty_stream();

// Reads "Keepalive-Ping-Interval" (seconds), clamped to 1..300; default 90.
std::chrono::milliseconds ping_interval_of(const http::Request& request);

}  // namespace sandgate::compat::e2b
