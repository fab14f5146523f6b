#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "providers/http_client.hpp"

// gRPC as a client of HttpClient: one message asks, one or a stream of them answers. Without
// compression. Bounded: a message beyond the limit is Error(unavailable).
namespace sandgate::grpc {

// The message as a request's body.
std::string frame(std::string_view message);

// Cuts bytes into messages. Throws Error(unavailable) for what is none.
class MessageSplitter {
 public:
  explicit MessageSplitter(size_t max_message = 8 << 20) : max_message_(max_message) {}
  void add(std::string_view bytes);
  std::optional<std::string> next();
  // Whether the bytes so far end within a message.
  bool is_cut() const { return !open_.empty(); }

 private:
  size_t max_message_;
  std::string open_;
  std::deque<std::string> messages_;
};

// The codes of gRPC that callers name.
inline constexpr int kOk = 0, kUnknown = 2;

// How a call ended.
struct Status {
  int code = kUnknown;
  std::string message;  // the server's words, which may repeat ours: for nobody else to see
  std::string details;  // bytes of grpc-status-details-bin
};
// From trailers, or from the headers of an answer that has nothing else. Empty: they do not say.
std::optional<Status> status_of(const HttpFields& fields);

// What a status that is no success means to us:
//   INVALID_ARGUMENT OUT_OF_RANGE invalid · DEADLINE_EXCEEDED timeout · NOT_FOUND not_found ·
//   ALREADY_EXISTS FAILED_PRECONDITION ABORTED conflict · RESOURCE_EXHAUSTED rate_limited ·
//   UNAUTHENTICATED PERMISSION_DENIED unavailable with details {"credentials":"refused"} ·
//   UNIMPLEMENTED unsupported · everything else unavailable
Error error_of(std::string_view provider, const Status& status);

// How a server is reached: the same for all of its calls.
struct Target {
  std::string provider;  // named in errors
  std::string base_url;  // without a slash at its end; http: HTTP/2 without TLS
  bool allow_private = false;
};

struct Call {
  std::string path;  // "/package.Service/Method"
  std::string message;
  HttpFields metadata;
  // Until the answer; of a stream, until it begins.
  std::chrono::milliseconds deadline{10000};
  std::chrono::seconds silence{0};  // of a stream: without a byte for so long it is dead
};

// The answers of a call, pulled. next() is empty after the end; throws what the status says, and
// Error(unavailable) when there is none. Dropping it cancels the call.
class MessageStream {
 public:
  // Turns a status into the Error to throw, for servers with details of their own.
  using ErrorReader = Error (*)(std::string_view provider, const Status& status);

  MessageStream(std::string provider, std::string path, std::unique_ptr<HttpStream> source,
                ErrorReader read_error);
  Task<std::optional<std::string>> next();

 private:
  const std::string provider_, path_;
  std::unique_ptr<HttpStream> source_;
  const ErrorReader read_error_;
  MessageSplitter splitter_;
  std::string buffer_;
  bool ended_ = false;
};

// One server.
class Channel {
 public:
  Channel(HttpClient& http, Target target, MessageStream::ErrorReader read_error = &error_of);

  // The one message of the answer.
  Task<std::string> call(Call call);
  Task<std::unique_ptr<MessageStream>> stream(Call call);

 private:
  HttpCall to_http(Call call) const;

  HttpClient& http_;
  const Target target_;
  const MessageStream::ErrorReader read_error_;
};

}  // namespace sandgate::grpc
