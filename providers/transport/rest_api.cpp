#include "providers/transport/rest_api.hpp"

#include <curl/curl.h>

#include <charconv>
#include <ctime>

#include "gateway/core/field_text.hpp"
#include "gateway/core/log.hpp"
#include "gateway/core/utf8.hpp"
#include "providers/byte_sources.hpp"
#include "providers/vendor_json.hpp"

namespace sandgate {
namespace {

constexpr size_t kLoggedBody = 500;
constexpr size_t kLongestCode = 64, kMaxCodes = 8;
constexpr int kCodeDepth = 4;
constexpr std::string_view kCodeNames[] = {"code", "type", "reason", "error_code", "error"};
constexpr size_t kMaxErrorBody = 64 << 10;
constexpr int kBeyondFile = 416;
constexpr size_t kParsedAtOnce = 256 << 10;
constexpr auto kFileSilence = std::chrono::seconds(60);
constexpr std::chrono::milliseconds kMaxRetryAfter = std::chrono::hours(1);

// Reads a number in `unit`, or a date.
std::optional<std::chrono::milliseconds> time_to_wait(const std::string& text,
                                                      std::chrono::milliseconds unit) {
  constexpr std::chrono::milliseconds kNone{0};
  int64_t units = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), units);
  const bool is_number = end == text.data() + text.size() && failure != std::errc::invalid_argument;
  if (is_number && failure == std::errc::result_out_of_range)
    return text.front() == '-' ? kNone : kMaxRetryAfter;
  if (is_number) return unit * std::clamp<int64_t>(units, 0, kMaxRetryAfter / unit);
  const time_t date = curl_getdate(text.c_str(), nullptr);
  if (date < 0) return std::nullopt;
  const std::chrono::seconds left(date - std::time(nullptr));
  return std::clamp<std::chrono::milliseconds>(left, kNone, kMaxRetryAfter);
}

ErrorCode code_of(int status) {
  switch (status) {
    case 400:
    case 406:
    case kBeyondFile:
    case 422:
      return ErrorCode::invalid;
    case 402:
      return ErrorCode::no_capacity;
    case 404:
    case 410:
      return ErrorCode::not_found;
    case 405:
    case 501:
      return ErrorCode::unsupported;
    case 408:
      return ErrorCode::timeout;
    case 409:
      return ErrorCode::conflict;
    case 413:
      return ErrorCode::too_large;
    case 429:
      return ErrorCode::rate_limited;
    case 507:
      return ErrorCode::quota_exceeded;
    default:
      return ErrorCode::unavailable;
  }
}

bool is_success(int status) { return status >= 200 && status < 300; }

bool has_body(const RestCall& call) { return call.json || call.upload || !call.bytes.empty(); }

bool is_code(const std::string& text) {
  return text.size() <= kLongestCode && std::all_of(text.begin(), text.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.';
         });
}

// Collects error codes of a vendor's document from the members where vendors put them.
void collect_codes(const Json& document, int depth, std::vector<std::string>& codes) {
  if (depth == 0 || !document.is_structured()) return;
  for (const auto& [name, value] : document.items()) {
    if (codes.size() >= kMaxCodes) return;
    const bool named =
        std::find(std::begin(kCodeNames), std::end(kCodeNames), name) != std::end(kCodeNames);
    if (named && value.is_string() && is_code(value.get_ref<const std::string&>()))
      codes.push_back(value.get<std::string>());
    else if (name == "error" || name == "errors" || name == "detail" || document.is_array())
      collect_codes(value, depth - 1, codes);
  }
}

// The part of a refusal's body that may be logged.
std::string loggable(const std::string& body, bool sent) {
  if (!sent) return to_utf8(body.substr(0, kLoggedBody));
  std::vector<std::string> codes;
  collect_codes(parse_answer(body), kCodeDepth, codes);
  std::string text;
  for (const std::string& code : codes) text.append(text.empty() ? "" : " ").append(code);
  return text;
}

std::string range_field(const ByteRange& range) {
  return "bytes=" + std::to_string(range.first) + "-" +
         (range.last ? std::to_string(*range.last) : "");
}

// The refusal with the start of its body.
Task<HttpReply> refusal_of(HttpStream& stream) {
  HttpReply reply{stream.status(), stream.headers(), {}};
  std::string piece(4096, '\0');
  while (reply.body.size() < kMaxErrorBody) {
    const size_t count = co_await stream.read(piece);
    if (count == 0) break;
    reply.body.append(piece, 0, count);
  }
  co_return reply;
}

// For documents whose parsing would hold up an event loop.
asio::thread_pool& parsers() {
  static asio::thread_pool one(1);
  return one;
}

// A server that does not say which part it sends is trusted to send the one asked for.
bool starts_elsewhere(const HttpStream& reply, uint64_t first) {
  const auto sent = find_field(reply.headers(), "Content-Range");
  return sent && !sent->starts_with("bytes " + std::to_string(first) + "-");
}

}  // namespace

Error attributed_to(Error error, const std::string& provider) {
  if (error.provider.empty()) error.provider = provider;
  return error;
}

// Some vendors append the name of a limit ("Retry-After-create") or send the time in milliseconds
// as well ("retry-after-ms"); the longest wait satisfies all.
std::optional<std::chrono::milliseconds> retry_after_of(const HttpFields& headers) {
  constexpr std::string_view kName = "Retry-After";
  constexpr std::chrono::milliseconds kMillisecond{1}, kSecond{1000};
  std::optional<std::chrono::milliseconds> longest;
  for (const auto& [name, value] : headers) {
    const bool named = starts_with_ignoring_case(name, kName) &&
                       (name.size() == kName.size() || name[kName.size()] == '-');
    if (!named) continue;
    const bool in_millis = equal_ignoring_case(name, "Retry-After-Ms");
    longest = std::max(longest, time_to_wait(value, in_millis ? kMillisecond : kSecond));
  }
  return longest;
}

Secret bearer(const Secret& token) { return Secret("Bearer " + token.reveal()); }

void RestCall::takes_file() {
  deadline = std::chrono::seconds(30);
  silence = kFileSilence;
}

void RestCall::sends_file(ByteSource& bytes) {
  upload = &bytes;
  deadline = std::chrono::milliseconds(0);
  silence = kFileSilence;
}

Error error_of_status(std::string_view provider, int status, const HttpFields& headers) {
  const std::string name(provider);
  const bool refuses_us = status == 401 || status == 403;
  Error error =
      refuses_us ? credentials_refused(name)
                 : Error(code_of(status), name + " answered with status " + std::to_string(status));
  error.provider = name;
  error.retry_after = retry_after_of(headers);
  const auto type = find_field(headers, "Content-Type");
  // A page is of a proxy, which does not know what is behind it. Sandboxes would be given up for
  // it.
  if (error.code == ErrorCode::not_found && type && type->starts_with("text/html"))
    error.code = ErrorCode::unavailable;
  return error;
}

Error refused_create(Error error) {
  switch (error.code) {
    case ErrorCode::invalid:
    case ErrorCode::not_found:
    case ErrorCode::unsupported:
    case ErrorCode::quota_exceeded:
    case ErrorCode::conflict:
    case ErrorCode::too_large:
      error.code = ErrorCode::no_capacity;
      error.fields.clear();
      break;
    // Without a time to wait it is a limit on running sandboxes, so waiting does not help.
    case ErrorCode::rate_limited:
      if (!error.retry_after) error.code = ErrorCode::no_capacity;
      break;
    default:
      break;
  }
  return error;
}

RestApi::RestApi(HttpClient& http, RestTarget target, ErrorReader read_error)
    : http_(http), target_(std::move(target)), read_error_(read_error) {}

Error RestApi::failure(const HttpReply& reply, std::string_view path, bool sent) const {
  log::warn("backend refused", {{"provider", target_.provider},
                                {"path", path.substr(0, path.find('?'))},
                                {"status", reply.status},
                                {sent ? "codes" : "body", loggable(reply.body, sent)}});
  return read_error_ ? read_error_(target_.provider, reply)
                     : error_of_status(target_.provider, reply.status, reply.headers);
}

HttpCall RestApi::to_http(RestCall call) const {
  HttpCall http;
  http.method = std::move(call.method);
  http.url = target_.base_url + call.path;
  http.headers = std::move(call.headers);
  if (!target_.auth_value.empty())
    http.headers.emplace_back(target_.auth_header, target_.auth_value.reveal());
  http.headers.insert(http.headers.end(), target_.headers.begin(), target_.headers.end());
  http.body = std::move(call.bytes);
  if (call.json) {
    http.body = call.json->dump();
    http.headers.emplace_back("Content-Type", "application/json");
  } else if ((call.upload || !http.body.empty()) && !find_field(http.headers, "Content-Type")) {
    http.headers.emplace_back("Content-Type", "application/octet-stream");
  }
  http.upload = call.upload;
  http.deadline = call.deadline;
  http.silence = call.silence;
  http.allow_private = target_.allow_private;
  http.signer = target_.signer;
  http.tls = target_.tls;
  return http;
}

Task<HttpReply> RestApi::send(RestCall call) {
  size_t* budget = call.budget;
  HttpCall http = to_http(std::move(call));
  if (budget) http.max_body = std::min(http.max_body, *budget);
  auto outcome = co_await attempt(http_.call(std::move(http)));
  if (auto* error = std::get_if<Error>(&outcome)) throw attributed_to(*error, target_.provider);
  HttpReply& reply = std::get<HttpReply>(outcome);
  if (budget) *budget -= std::min(*budget, reply.body.size());
  if (!is_success(reply.status) && reply.body.size() > kMaxErrorBody)
    reply.body.resize(kMaxErrorBody);
  co_return std::move(reply);
}

Task<Json> RestApi::parse(std::string body) const {
  if (target_.allow_private || body.size() <= kParsedAtOnce) co_return parse_answer(body);
  auto parsing = on_pool(parsers(), [body = std::move(body)] { return parse_answer(body); });
  co_return co_await std::move(parsing);
}

Task<Json> RestApi::call(RestCall call) {
  const std::string path = call.path;
  const bool sent = has_body(call);
  HttpReply reply = co_await send(std::move(call));
  if (!is_success(reply.status)) throw failure(reply, path, sent);
  if (reply.body.empty()) co_return Json();
  auto parsing = parse(std::move(reply.body));
  Json document = co_await std::move(parsing);
  if (document.is_discarded())
    throw attributed_to(Error(ErrorCode::unavailable, target_.provider + " sent no valid JSON"),
                        target_.provider);
  co_return document;
}

Task<std::optional<Json>> RestApi::find(RestCall call_) {
  auto outcome = co_await attempt(call(std::move(call_)));
  if (const auto* error = std::get_if<Error>(&outcome)) {
    if (error->code == ErrorCode::not_found) co_return std::nullopt;
    throw *error;
  }
  co_return std::move(std::get<Json>(outcome));
}

Task<std::unique_ptr<HttpStream>> RestApi::open(RestCall call) {
  HttpCall http = to_http(std::move(call));
  auto outcome = co_await attempt(http_.stream(std::move(http)));
  if (auto* error = std::get_if<Error>(&outcome)) throw attributed_to(*error, target_.provider);
  co_return std::move(std::get<0>(outcome));
}

Task<std::unique_ptr<HttpStream>> RestApi::stream(RestCall call) {
  const std::string path = call.path;
  const bool sent = has_body(call);
  auto stream = co_await open(std::move(call));
  if (is_success(stream->status())) co_return stream;
  const HttpReply refusal = co_await refusal_of(*stream);
  throw failure(refusal, path, sent);
}

Task<FilePart> RestApi::stream_range(RestCall call, ByteRange range) {
  if (range.first > 0 || range.last) call.headers.emplace_back("Range", range_field(range));
  const std::string path = call.path;
  auto reply = co_await open(std::move(call));
  if (!is_success(reply->status())) {
    const HttpReply refusal = co_await refusal_of(*reply);
    if (refusal.status == kBeyondFile) co_return FilePart{refusal.headers, nullptr};
    throw failure(refusal, path);
  }
  // RFC 9110 lets a server ignore Range and send the whole file with 200.
  const bool whole = reply->status() != 206;
  if (!whole && starts_elsewhere(*reply, range.first))
    throw attributed_to(
        Error(ErrorCode::unavailable,
              target_.provider + " did not send the part of the file that was asked for"),
        target_.provider);
  FilePart part{reply->headers(), nullptr};
  const uint64_t skip = whole ? range.first : 0;
  part.bytes = std::make_unique<SlicedBytes>(std::move(reply), skip, range.size_limit());
  co_return part;
}

Task<Json> RestApi::create(RestCall create) {
  create.deadline = kCreateDeadline;
  auto outcome = co_await attempt(call(std::move(create)));
  if (const auto* error = std::get_if<Error>(&outcome)) throw refused_create(*error);
  co_return std::move(std::get<Json>(outcome));
}

Task<Json> RestApi::get(std::string path) {
  RestCall get{.path = std::move(path)};
  co_return co_await call(std::move(get));
}

Task<Json> RestApi::post(std::string path, Json body) {
  RestCall post{.method = "POST", .path = std::move(path), .json = std::move(body)};
  co_return co_await call(std::move(post));
}

Task<void> RestApi::remove(std::string path) {
  RestCall removal{.method = "DELETE", .path = std::move(path)};
  co_await find(std::move(removal));
}

}  // namespace sandgate
