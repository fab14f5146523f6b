#include "gateway/http/request_parser.hpp"

#include <algorithm>

#include <boost/beast/http/error.hpp>

#include "gateway/core/field_text.hpp"
#include "gateway/core/json_reader.hpp"
#include "gateway/http/target.hpp"
#include "gateway/http/token.hpp"

namespace sandgate::http {
namespace {

namespace beast_http = boost::beast::http;

Method method_from(beast_http::verb verb) {
  switch (verb) {
    case beast_http::verb::get:
      return Method::get;
    case beast_http::verb::head:
      return Method::head;
    case beast_http::verb::post:
      return Method::post;
    case beast_http::verb::put:
      return Method::put;
    case beast_http::verb::patch:
      return Method::patch;
    case beast_http::verb::delete_:
      return Method::delete_;
    case beast_http::verb::options:
      return Method::options;
    default:
      return Method::other;
  }
}

constexpr size_t kLongestMethod = 32;
constexpr int kMaxEmptyLines = 8;  // before the request line; some clients send them
std::string_view standard(boost::beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

RequestParser::RequestParser(Request& into, const Limits& limits)
    : request_(into), limits_(limits) {
  header_limit(static_cast<uint32_t>(limits.header_bytes.get()));
  body_limit(boost::none);
}

void RequestParser::refuse(int status, std::string why, error_code& ec) {
  refusal_ = status;
  why_ = std::move(why);
  ec = beast_http::error::bad_value;
}

void RequestParser::refuse_field(std::string_view name, std::string why, error_code& ec) {
  field_ = "/" + pointer_token(name);
  refuse(400, std::move(why), ec);
}

Error RequestParser::too_long(std::string_view unread) {
  const bool in_target = !line_done_ && unread.find(' ') != std::string_view::npos;
  refusal_ = in_target ? 414 : 431;
  return Error(ErrorCode::too_large,
               in_target ? "the request's target is too long" : "the request's header is too long");
}

size_t RequestParser::parse_head(std::string_view bytes) {
  error_code failure;
  size_t used = 0;
  if (head_bytes_ == 0) {
    for (; bytes.substr(used).starts_with("\r\n") && empty_lines_ < kMaxEmptyLines; used += 2)
      ++empty_lines_;
    if (bytes.size() == used || bytes.substr(used) == "\r") return used;
  }
  reading_ = bytes;
  // Beast parses the request line and the fields in separate calls.
  while (!head_done_) {
    const size_t now = put(boost::asio::buffer(bytes.substr(used)), failure);
    used += now;
    if (failure) break;
  }
  head_bytes_ += used;
  if (failure == beast_http::error::header_limit ||
      head_bytes_ + (head_done_ ? 0 : bytes.size() - used) > limits_.header_bytes)
    throw too_long(bytes.substr(used));
  if (failure && failure != beast_http::error::need_more) {
    if (why_.empty()) why_ = "not valid HTTP: " + failure.message();
    if (!field_.empty()) throw Error::invalid(field_, why_);
    throw Error(refusal_ == 400 ? ErrorCode::invalid : ErrorCode::too_large, why_);
  }
  if (head_done_) eager(true);
  return used;
}

size_t RequestParser::parse_body(std::string_view bytes, std::span<char> into) {
  std::string wrong;
  const size_t used = put_body(bytes, into, wrong);
  if (!wrong.empty()) throw Error(ErrorCode::invalid, "the body is not valid HTTP: " + wrong);
  return used;
}

void RequestParser::on_request_impl(beast_http::verb method, string_view method_text,
                                    string_view target, int version, error_code& ec) {
  line_done_ = true;
  request_.method = method_from(method);
  if (request_.method == Method::other)
    request_.other_method.assign(method_text.data(), method_text.size());
  minor_ = version % 10;
  if (request_.other_method.size() > kLongestMethod)
    return refuse(400, "the request's method is too long", ec);
  if (target.size() > limits_.target_bytes)
    return refuse(414, "the request's target is too long", ec);
  request_.target.assign(target.data(), target.size());
}

// Folded lines are obsolete since RFC 7230, and implementations read them differently. Beast
// unfolds them into its own buffer, unless only the last line has content.
bool RequestParser::is_folded(std::string_view name, std::string_view value) const {
  const std::less_equal<const char*> before;
  const char* const colon = name.data() + name.size();
  const char* const end = reading_.data() + reading_.size();
  if (!before(colon, value.data()) || !before(value.data() + value.size(), end)) return true;
  return std::find(colon, value.data(), '\r') != value.data();
}

void RequestParser::check_framing(field id, std::string_view value, error_code& ec) {
  if (id == field::content_length) {
    if (++lengths_ > 1 || value.find_first_not_of("0123456789") != std::string_view::npos)
      refuse_field("Content-Length", "must be one number", ec);
  } else if (id == field::transfer_encoding) {
    if (!equal_ignoring_case(trimmed(value), "chunked") || minor_ == 0)
      refuse_field("Transfer-Encoding", "may only be chunked, in HTTP/1.1", ec);
  } else if (id == field::host) {
    if (++hosts_ > 1)
      refuse_field("Host", "must not be sent more than once", ec);
    else if (!is_host(value))
      refuse_field("Host", "must be a host, with or without a port", ec);
  } else if (id == field::expect) {
    expects_continue_ = minor_ == 1 && equal_ignoring_case(trimmed(value), "100-continue");
  }
}

void RequestParser::on_field_impl(field id, string_view name_text, string_view value_text,
                                  error_code& ec) {
  // Trailer fields of a chunked body must not change decisions already made.
  if (head_done_) return;
  const std::string_view name = standard(name_text), value = standard(value_text);
  if (request_.headers.fields().size() == limits_.header_fields)
    return refuse(431, "the request has too many header fields", ec);
  if (is_folded(name, value)) return refuse_field(name, "must be on one line", ec);
  if (id == field::upgrade && minor_ == 0) return;  // RFC 9110, 7.8: must be ignored
  check_framing(id, value, ec);
  if (!ec) request_.headers.add(std::string(name), std::string(value));
}

void RequestParser::on_header_impl(error_code& ec) {
  if (minor_ == 1 && hosts_ == 0) return refuse_field("Host", "is required", ec);
  if (const auto authority = authority_of(request_.target)) {
    if (authority->empty() || !is_host(*authority))
      return refuse(400, "the request target names no host", ec);
    // RFC 9112, 3.2.2: an absolute target overrides the Host field.
    request_.headers.set("Host", std::string(*authority));
  }
  head_done_ = true;
}

}  // namespace sandgate::http
