#pragma once
#include <chrono>
#include <functional>

#include "gateway/core/json_reader.hpp"
#include "gateway/http/request.hpp"
#include "gateway/http/response.hpp"
#include "gateway/http/shared_sink.hpp"

// The Connect protocol (connectrpc.com) with its JSON codec, as a server of single calls and of
// streams of answers.
namespace sandgate::compat::e2b {

// The one message of a request: a JSON body, or one envelope, neither compressed. Throws
// Error(invalid) for what is none, Error(unsupported) for other codecs and compression.
Json message_of(const http::Request& request);

// The messages of a streamed request, one after the other, each at most kMost bytes.
class MessageSource {
 public:
  static constexpr size_t kMost = 4 << 20;

  // `body` must outlive it.
  explicit MessageSource(ByteSource& body) : body_(body) {}
  // Empty at the end. Throws what message_of() throws.
  Task<std::optional<Json>> next();

 private:
  Task<bool> hold(size_t bytes);

  ByteSource& body_;
  std::string held_;  // read; given away up to `taken_`
  size_t taken_ = 0, messages_ = 0;
};

// Throws Error(unsupported) for a request that is no stream of messages.
void check_stream(const http::Request& request);

// "Connect-Timeout-Ms": how long the caller wants what it starts to last; zero: no limit. Throws
// Error(invalid).
std::chrono::milliseconds timeout_of(const http::Request& request);

// bytes of proto3's JSON. Throws Error(invalid) naming the member.
std::string bytes_of(const Json& object, const char* name);
// An integer, also as a string. Throws Error(invalid) naming the member.
int64_t number_of(const Json& object, const char* name);
// Whether the member is there; null is not.
bool has_member(const Json& object, const char* name);
// The member when it is an object; else an empty one.
Json object_of(const Json& object, const char* name);

// Where the messages of one answer go.
class MessageWriter {
 public:
  explicit MessageWriter(http::SharedSink& sink) : sink_(sink) {}
  Task<void> send(const Json& message);

 private:
  http::SharedSink& sink_;
};

struct MessageStream {
  // Sends until it returns; an Error it throws is told as the end of the stream.
  std::function<Task<void>(MessageWriter&)> produce;
  Json sign_of_life;  // a message, whenever there was none for `interval`
  std::chrono::milliseconds interval{90'000};
  std::chrono::milliseconds limit{0};  // then the end is deadline_exceeded; zero: none
  std::string request_id;
};
http::Response message_stream(MessageStream stream);
// The same of one empty message.
http::Response empty_stream();

// What "Keepalive-Ping-Interval" (seconds) asks for, within sense.
std::chrono::milliseconds ping_interval_of(const http::Request& request);

}  // namespace sandgate::compat::e2b
