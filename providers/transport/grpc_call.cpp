#include "providers/transport/grpc_call.hpp"

#include "gateway/core/crypto.hpp"
#include "gateway/core/log.hpp"
#include "gateway/core/number_text.hpp"
#include "providers/transport/rest_api.hpp"

namespace sandgate::grpc {
namespace {

constexpr size_t kFrameHead = 5;
constexpr size_t kReadPiece = 64 << 10;
constexpr int kSuccess = 200;

Error broken_call(std::string_view provider, std::string_view what) {
  Error error(ErrorCode::unavailable, std::string(provider) + " " + std::string(what));
  error.provider = provider;
  return error;
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Invalid escapes are kept as they are.
std::string percent_decoded(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? digit_of(text[i + 1]) : -1;
    const int low = high >= 0 ? digit_of(text[i + 2]) : -1;
    if (low < 0) {
      plain += text[i];
      continue;
    }
    plain += static_cast<char>(high << 4 | low);
    i += 2;
  }
  return plain;
}

// Servers omit the padding.
std::string binary_of(std::string_view field) {
  std::string padded(field);
  while (padded.size() % 4 != 0) padded += '=';
  return base64_decode(padded).value_or("");
}

ErrorCode code_of_status(int code) {
  switch (code) {
    case 3:
    case 11:
      return ErrorCode::invalid;
    case 4:
      return ErrorCode::timeout;
    case 5:
      return ErrorCode::not_found;
    case 6:
    case 9:
    case 10:
      return ErrorCode::conflict;
    case 8:
      return ErrorCode::rate_limited;
    case 12:
      return ErrorCode::unsupported;
    default:
      return ErrorCode::unavailable;
  }
}

constexpr int kDenied = 7, kUnauthenticated = 16;

// Returns the Error of a finished call; empty for success.
std::optional<Error> failure_of(const std::string& provider, std::string_view path,
                                const std::optional<Status>& status,
                                MessageStream::ErrorReader read_error) {
  if (!status) return broken_call(provider, "ended the call without a status");
  if (status->code == kOk) return std::nullopt;
  log::warn("backend refused", {{"provider", provider}, {"path", path}, {"status", status->code}});
  return read_error(provider, *status);
}

std::optional<Status> status_in(const HttpFields& trailers, const HttpFields& headers) {
  const auto last = status_of(trailers);
  return last ? last : status_of(headers);
}

Error refused_by_http(const std::string& provider, std::string_view path, int status,
                      const HttpFields& headers) {
  log::warn("backend refused", {{"provider", provider}, {"path", path}, {"http_status", status}});
  return error_of_status(provider, status, headers);
}

}  // namespace

std::string frame(std::string_view message) {
  std::string bytes(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes.push_back(static_cast<char>(message.size() >> shift & 0xFF));
  return bytes.append(message);
}

void MessageSplitter::add(std::string_view bytes) {
  open_.append(bytes);
  size_t at = 0;
  while (open_.size() - at >= kFrameHead) {
    const std::string_view rest = std::string_view(open_).substr(at);
    size_t length = 0;
    for (size_t i = 1; i < kFrameHead; ++i)
      length = length << 8 | static_cast<unsigned char>(rest[i]);
    if (rest[0] != 0) throw broken_call("the backend", "sent a form that was not asked for");
    if (length > max_message_) throw broken_call("the backend", "sent an endless message");
    if (rest.size() - kFrameHead < length) break;
    messages_.emplace_back(rest.substr(kFrameHead, length));
    at += kFrameHead + length;
  }
  open_.erase(0, at);
}

std::optional<std::string> MessageSplitter::next() {
  if (messages_.empty()) return std::nullopt;
  std::string message = std::move(messages_.front());
  messages_.pop_front();
  return message;
}

std::optional<Status> status_of(const HttpFields& fields) {
  const auto code = find_field(fields, "grpc-status");
  if (!code) return std::nullopt;
  Status status;
  const auto number = number_from<int>(*code);
  status.code = number && *number >= 0 ? *number : kUnknown;
  status.message = percent_decoded(find_field(fields, "grpc-message").value_or(""));
  status.details = binary_of(find_field(fields, "grpc-status-details-bin").value_or(""));
  return status;
}

Error error_of(std::string_view provider, const Status& status) {
  const std::string name(provider);
  if (status.code == kUnauthenticated || status.code == kDenied) return credentials_refused(name);
  Error error(code_of_status(status.code),
              name + " ended the call with status " + std::to_string(status.code));
  error.provider = name;
  return error;
}

MessageStream::MessageStream(std::string provider, std::string path,
                             std::unique_ptr<HttpStream> source, ErrorReader read_error)
    : provider_(std::move(provider)),
      path_(std::move(path)),
      source_(std::move(source)),
      read_error_(read_error),
      buffer_(kReadPiece, '\0') {}

Task<std::optional<std::string>> MessageStream::next() {
  while (!ended_) {
    if (auto message = splitter_.next()) co_return message;
    const size_t count = co_await source_->read(buffer_);
    if (count > 0) {
      splitter_.add(std::string_view(buffer_).substr(0, count));
      continue;
    }
    ended_ = true;
    const auto status = status_in(source_->trailers(), source_->headers());
    if (const auto failure = failure_of(provider_, path_, status, read_error_)) throw *failure;
    if (splitter_.is_cut()) throw broken_call(provider_, "ended the stream within a message");
  }
  co_return std::nullopt;
}

Channel::Channel(HttpClient& http, Target target, MessageStream::ErrorReader read_error)
    : http_(http), target_(std::move(target)), read_error_(read_error) {}

HttpCall Channel::to_http(Call call) const {
  HttpCall http;
  http.method = "POST";
  http.url = target_.base_url + call.path;
  http.headers = std::move(call.metadata);
  http.headers.emplace_back("Content-Type", "application/grpc");
  http.headers.emplace_back("TE", "trailers");
  http.body = frame(call.message);
  http.deadline = call.deadline;
  http.silence = call.silence;
  http.http2 = true;
  http.allow_private = target_.allow_private;
  http.peer = target_.provider;
  return http;
}

Task<std::string> Channel::call(Call call) {
  const std::string path = call.path;
  HttpCall http = to_http(std::move(call));
  auto outcome = co_await attempt(http_.call(std::move(http)));
  if (auto* error = std::get_if<Error>(&outcome)) throw attributed_to(*error, target_.provider);
  const HttpReply& reply = std::get<HttpReply>(outcome);
  const auto status = status_in(reply.trailers, reply.headers);
  if (reply.status != kSuccess && !status)
    throw refused_by_http(target_.provider, path, reply.status, reply.headers);
  if (const auto failure = failure_of(target_.provider, path, status, read_error_)) throw *failure;
  MessageSplitter splitter(reply.body.size());
  splitter.add(reply.body);
  auto message = splitter.next();
  if (!message || splitter.next() || splitter.is_cut())
    throw broken_call(target_.provider, "did not answer with one message");
  co_return std::move(*message);
}

Task<std::unique_ptr<MessageStream>> Channel::stream(Call call) {
  const std::string path = call.path;
  HttpCall http = to_http(std::move(call));
  auto outcome = co_await attempt(http_.stream(std::move(http)));
  if (auto* error = std::get_if<Error>(&outcome)) throw attributed_to(*error, target_.provider);
  auto source = std::move(std::get<0>(outcome));
  const auto status = status_of(source->headers());
  if (source->status() != kSuccess && !status)
    throw refused_by_http(target_.provider, path, source->status(), source->headers());
  // A trailers-only answer has its status in the headers, so a refusal is known here already.
  if (status && status->code != kOk) throw *failure_of(target_.provider, path, status, read_error_);
  co_return std::make_unique<MessageStream>(target_.provider, path, std::move(source), read_error_);
}

}  // namespace sandgate::grpc
