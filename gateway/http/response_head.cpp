#include "gateway/http/response_head.hpp"

#include <algorithm>
#include <ctime>

#include "gateway/http/date.hpp"
#include "gateway/http/problem.hpp"

namespace sandgate::http {
namespace {

// "Date: …\r\n", formatted at most once a second per thread.
const std::string& date_line() {
  thread_local std::time_t formatted = 0;
  thread_local std::string line;
  const std::time_t now = std::time(nullptr);
  if (now != formatted) {
    line = "Date: " + date_text(from_micros(int64_t{now} * 1'000'000)) + "\r\n";
    formatted = now;
  }
  return line;
}

bool has_no_body(int status) { return status < 200 || status == 204 || status == 304; }

}  // namespace

void append_field(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ");
  const auto begin = static_cast<std::ptrdiff_t>(out.size());
  out.append(value);
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
  std::replace_if(out.begin() + begin, out.end(), is_control, ' ');
  out.append("\r\n");
}

void append_head(std::string& out, const Response& response, std::string_view request_id,
                 const Framing& framing) {
  out.append("HTTP/1.1 ").append(std::to_string(response.status)).append(" ");
  out.append(reason_of(response.status)).append("\r\nServer: sandgate\r\n").append(date_line());
  out.append("X-Request-Id: ").append(request_id).append("\r\n");
  if (!response.content_type.empty()) append_field(out, "Content-Type", response.content_type);
  for (const auto& [name, value] : response.headers) append_field(out, name, value);
  if (framing.chunked)
    out.append("Transfer-Encoding: chunked\r\n");
  else if (framing.length && !has_no_body(response.status))
    out.append("Content-Length: ").append(std::to_string(*framing.length)).append("\r\n");
  if (!framing.keep_alive)
    out.append("Connection: close\r\n");
  else if (!framing.http11)
    out.append("Connection: keep-alive\r\n");
  out.append("\r\n");
}

}  // namespace sandgate::http
