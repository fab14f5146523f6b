#include "gateway/http/body_parser.hpp"

#include <algorithm>
#include <cstring>

#include <boost/beast/http/error.hpp>

namespace sandgate::http {
namespace {

namespace beast_http = boost::beast::http;

// The shortest end of a chunked body: "0", CR LF and an empty line.
constexpr size_t kShortestChunks = 5;

// Whether a line ends in LF without CR. Beast would wait for CR LF without limit.
bool ends_wrong(std::string_view lines) {
  for (size_t end = lines.find('\n'); end != std::string_view::npos;
       end = lines.find('\n', end + 1))
    if (end == 0 || lines[end - 1] != '\r') return true;
  return false;
}

// Whether the beginning of the first chunk's line has no size.
bool begins_wrong(std::string_view line) {
  const size_t end = line.find_first_not_of("0123456789abcdefABCDEF");
  if (end == std::string_view::npos) return false;
  return end == 0 || std::string_view("\r; \t").find(line[end]) == std::string_view::npos;
}

constexpr const char* kWrongEnd = "a line of its chunks ends wrong";

}  // namespace

template <bool isRequest>
size_t BodyParser<isRequest>::put_body(std::string_view bytes, std::span<char> into,
                                       std::string& wrong) {
  into_ = into;
  taken_ = 0;
  // Beast 1.81 asserts that this many bytes follow the line of the last chunk.
  if (this->chunked() && !chunks_begun_ && bytes.size() < kShortestChunks) {
    if (ends_wrong(bytes))
      wrong = kWrongEnd;
    else if (begins_wrong(bytes))
      wrong = "bad chunk";
    return 0;
  }
  if (bytes.empty()) return 0;
  error_code failure;
  const size_t used = this->put(boost::asio::buffer(bytes), failure);
  chunks_begun_ = chunks_begun_ || used > 0;
  if (failure && failure != beast_http::error::need_more &&
      failure != beast_http::error::need_buffer)
    wrong = failure.message();
  // What is left unused then starts a chunk header or trailer line, never chunk data.
  else if (this->chunked() && failure != beast_http::error::need_buffer && !this->is_done() &&
           ends_wrong(bytes.substr(used)))
    wrong = kWrongEnd;
  return used;
}

template <bool isRequest>
size_t BodyParser<isRequest>::take(string_view body, error_code& ec) {
  const size_t bytes = std::min(into_.size() - taken_, body.size());
  if (bytes > 0) std::memcpy(into_.data() + taken_, body.data(), bytes);
  taken_ += bytes;
  if (bytes < body.size()) ec = beast_http::error::need_buffer;
  return bytes;
}

template class BodyParser<true>;
template class BodyParser<false>;

}  // namespace sandgate::http
