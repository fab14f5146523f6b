#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "providers/transport/http_client.hpp"

// A gRPC client on HttpClient: unary and server-streaming calls, without compression. A message
// above the size limit is Error(unavailable).
namespace sandgate::grpc {

// Returns the message with its length prefix, as a request's body.
std::string frame(std::string_view message);

// Splits bytes into messages. Throws Error(unavailable) for malformed ones.
class MessageSplitter {
 public:
  explicit MessageSplitter(size_t max_message = 8 << 20) : max_message_(max_message) {}
  void add(std::string_view bytes);
  std::optional<std::string> next();
  // Whether the bytes so far end inside a message.
  bool is_cut() const { return !open_.empty(); }

 private:
  size_t max_message_;
  std::string open_;
  std::deque<std::string> messages_;
};

// The gRPC status codes that callers name.
inline constexpr int kOk = 0, kUnknown = 2;

// The status of a finished call.
struct Status {
  int code = kUnknown;
  std::string message;  // the server's text; may repeat input, so it is not shown or logged
  std::string details;  // decoded bytes of grpc-status-details-bin
};
// Reads the status from trailers, or from the headers of an answer without a body. Empty if absent.
std::optional<Status> status_of(const HttpFields& fields);

// Maps an unsuccessful status to an Error:
// INVALID_ARGUMENT OUT_OF_RANGE invalid · DEADLINE_EXCEEDED timeout · NOT_FOUND not_found ·
// ALREADY_EXISTS FAILED_PRECONDITION ABORTED conflict · RESOURCE_EXHAUSTED rate_limited ·
// UNAUTHENTICATED PERMISSION_DENIED unavailable with details {"credentials":"refused"} ·
// UNIMPLEMENTED unsupported · everything else unavailable
Error error_of(std::string_view provider, const Status& status);

// How to reach a server; shared by all of its calls.
struct Target {
  std::string provider;  // named in errors
  std::string base_url;  // without a trailing slash; http means HTTP/2 without TLS
  bool allow_private = false;
};

struct Call {
  std::string path;  // "/package.Service/Method"
  std::string message;
  HttpFields metadata;
  // Limit for the whole answer of call(), or for the start of a stream.
  std::chrono::milliseconds deadline{10000};
  std::chrono::seconds silence{0};  // a stream fails after this long without a byte; 0: never
};

// The answers of a streaming call. next() returns empty after the end. It throws the error of the
// call's status, or Error(unavailable) if there is none. Dropping the stream cancels the call.
class MessageStream {
 public:
  // Turns a status into an Error, for servers with error details of their own.
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

// A client of one server.
class Channel {
 public:
  Channel(HttpClient& http, Target target, MessageStream::ErrorReader read_error = &error_of);

  // Returns the answer's single message; throws Error.
  Task<std::string> call(Call call);
  Task<std::unique_ptr<MessageStream>> stream(Call call);

 private:
  HttpCall to_http(Call call) const;

  HttpClient& http_;
  const Target target_;
  const MessageStream::ErrorReader read_error_;
};

}  // namespace sandgate::grpc
