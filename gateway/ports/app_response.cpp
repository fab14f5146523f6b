#include "gateway/ports/app_response.hpp"

#include <boost/beast/http/error.hpp>

#include "gateway/core/field_text.hpp"

namespace sandgate::ports {
namespace {

namespace beast = boost::beast::http;

// Must fit into a connection's buffer.
constexpr uint32_t kMaxHead = 24 * 1024;
constexpr size_t kMaxFields = 200;
constexpr std::string_view kVersion = "HTTP/1.";

Error malformed(const std::string& why) {
  return Error(ErrorCode::unavailable,
               "the program in the sandbox sent something that is not HTTP: " + why);
}

}  // namespace

AppResponse::AppResponse(bool to_head) : to_head_(to_head) {
  header_limit(kMaxHead);
  body_limit(boost::none);
  skip(to_head);
}

bool AppResponse::to_websocket() const {
  int protocols = 0;
  bool websocket = false;
  for (const auto& [name, value] : fields_) {
    if (!equal_ignoring_case(name, "Upgrade")) continue;
    ++protocols;
    websocket = equal_ignoring_case(value, "websocket");
  }
  return websocket && protocols == 1;
}

bool AppResponse::has_body() const {
  return !to_head_ && status_ >= 200 && status_ != 204 && status_ != 304;
}

// Programs leave out the space before an empty reason, which ordinary clients take but the parser
// does not. It must not see a part of such a line either.
bool AppResponse::awaits_status_line(std::string_view bytes) const {
  return status_ == 0 && bytes.size() < kMaxHead && bytes.find('\n') == bytes.npos &&
         kVersion.starts_with(bytes.substr(0, kVersion.size()));
}

size_t AppResponse::parse_bare_status(std::string_view bytes, error_code& failure) {
  constexpr size_t kLine = std::string_view("HTTP/1.1 200").size();
  if (status_ != 0 || !bytes.starts_with(kVersion) || bytes.find("\r\n") != kLine) return 0;
  const std::string line = std::string(bytes.substr(0, kLine)) + " \r\n";
  put(boost::asio::buffer(line), failure);
  if (failure == beast::error::need_more) failure.clear();
  return kLine + 2;
}

size_t AppResponse::parse_head(std::string_view bytes) {
  if (awaits_status_line(bytes)) return 0;
  error_code failure;
  size_t used = parse_bare_status(bytes, failure);
  // The parser takes the status line in one call and the fields in another. It reckons with the
  // address of what it gets, and nothing has none.
  while (!head_done_ && !failure && used < bytes.size()) {
    used += put(boost::asio::buffer(bytes.substr(used)), failure);
  }
  head_bytes_ += used;
  if (failure && failure != beast::error::need_more) throw malformed(failure.message());
  // The parser limits single lines only.
  if (head_bytes_ > kMaxHead) throw malformed("its head is too long");
  if (head_done_) eager(true);
  return used;
}

size_t AppResponse::parse_body(std::string_view bytes, std::span<char> into) {
  std::string wrong;
  const size_t used = put_body(bytes, into, wrong);
  if (!wrong.empty()) throw malformed(wrong);
  return used;
}

void AppResponse::on_response_impl(int code, string_view reason, int, error_code& ec) {
  status_ = code;
  reason_.assign(reason.data(), reason.size());
  if (code < 100 || code > 599) ec = beast::error::bad_status;
}

void AppResponse::on_field_impl(field id, string_view name, string_view value, error_code& ec) {
  // Ignore trailers: the fields were passed on already.
  if (head_done_) return;
  if (fields_.size() == kMaxFields || (id == field::content_length && ++lengths_ > 1) ||
      (id == field::transfer_encoding &&
       !equal_ignoring_case(trimmed({value.data(), value.size()}), "chunked"))) {
    ec = beast::error::bad_field;
    return;
  }
  fields_.emplace_back(std::string(name.data(), name.size()),
                       std::string(value.data(), value.size()));
}

}  // namespace sandgate::ports
