#include "local/egress/http_head.hpp"

#include <algorithm>
#include <array>

#include "gateway/core/field_text.hpp"
#include "gateway/core/number_text.hpp"
#include "gateway/core/utf8.hpp"

namespace sandgate::egress {
namespace {

constexpr size_t kMaxFields = 128;
constexpr size_t kMaxSizeDigits = 18;
constexpr int kMaxExtension = 256;

bool is_token_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool is_token_text(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_character);
}

bool is_visible(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

bool is_field_value(std::string_view text) {
  return is_utf8(text) && std::none_of(text.begin(), text.end(), [](char c) {
           return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
         });
}

const char* read_request_line(std::string_view line, RequestHead& head) {
  const size_t first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return "request line";
  head.method = line.substr(0, first);
  head.target = line.substr(first + 1, last - first - 1);
  const auto version = line.substr(last + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return "version";
  head.minor_version = version.back() - '0';
  return is_token_text(head.method) && is_visible(head.target) ? nullptr : "request line";
}

const char* read_field(std::string_view line, RequestHead& head) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token_text(line.substr(0, colon))) return "field name";
  const auto value = trimmed(line.substr(colon + 1));
  if (!is_field_value(value)) return "field value";
  if (head.fields.size() == kMaxFields) return "too many fields";
  head.fields.push_back({std::string(line.substr(0, colon)), std::string(value)});
  return nullptr;
}

const char* read_length(std::string_view value, RequestHead& head) {
  const auto bytes = number_from<decltype(head.body_bytes)>(value);
  if (!bytes || value.size() > kMaxSizeDigits) return "content-length";
  head.body_bytes = *bytes;
  head.body = head.body_bytes > 0 ? BodyKind::sized : BodyKind::none;
  return nullptr;
}

// What a Connection field names is not passed on.
bool names_framing(const ConnectionNames& connection) {
  constexpr std::array kFraming{"host", "content-length", "transfer-encoding"};
  return std::ranges::any_of(kFraming, [&](auto name) { return connection.has(name); });
}

// Fields that decide where the request ends or which host it is for occur only once, and go on to
// the server.
const char* check_framing(RequestHead& head) {
  const auto connection = connection_names(head);
  if (!connection || names_framing(*connection)) return "connection";
  size_t hosts = 0, lengths = 0, codings = 0;
  for (const HeaderField& field : head.fields) {
    const std::string name = ascii_lower(field.name);
    hosts += name == "host";
    lengths += name == "content-length";
    codings += name == "transfer-encoding";
    if (name == "http2-settings") return "h2c";
    if (name == "content-length") {
      if (const char* wrong = read_length(field.value, head)) return wrong;
    } else if (name == "transfer-encoding") {
      if (ascii_lower(field.value) != "chunked" || head.minor_version == 0)
        return "transfer-encoding";
      head.body = BodyKind::chunked;
    } else if (name == "upgrade") {
      if (ascii_lower(field.value) != "websocket") return "upgrade";
      head.upgrade = true;
    }
  }
  head.upgrade = head.upgrade && connection->has("upgrade") && head.minor_version == 1;
  if (lengths + codings > 1) return "two body lengths";
  if (hosts > 1 || (hosts == 0 && head.minor_version == 1)) return "host";
  return nullptr;
}

}  // namespace

std::optional<ConnectionNames> connection_names(const RequestHead& head) {
  ConnectionNames names;
  for (const HeaderField& field : head.fields)
    if (ascii_lower(field.name) == "connection" && !names.add(field.value)) return std::nullopt;
  return names;
}

std::optional<std::string_view> RequestHead::field(std::string_view lower_name) const {
  for (const HeaderField& one : fields)
    if (ascii_lower(one.name) == lower_name) return one.value;
  return std::nullopt;
}

HeadResult parse_request_head(std::string_view bytes) {
  HeadResult result;
  const auto malformed = [&](const char* reason) {
    result.state = HeadState::malformed;
    result.reason = reason;
    return result;
  };
  for (bool first = true;; first = false) {
    const size_t end = bytes.find('\n', result.bytes);
    if (end == std::string_view::npos || end >= kMaxHeadBytes)
      return bytes.size() >= kMaxHeadBytes ? malformed("too long") : result;
    const auto line = bytes.substr(result.bytes, end - result.bytes);
    result.bytes = end + 1;
    if (!line.ends_with('\r')) return malformed("bare line feed");
    const auto content = line.substr(0, line.size() - 1);
    if (content.empty() && !first) break;
    const char* wrong =
        first ? read_request_line(content, result.head) : read_field(content, result.head);
    if (wrong) return malformed(wrong);
  }
  if (const char* wrong = check_framing(result.head)) return malformed(wrong);
  result.state = HeadState::complete;
  return result;
}

std::optional<std::string> take_authority(RequestHead& head, std::string_view scheme) {
  if (!starts_with_ignoring_case(head.target, scheme)) return std::nullopt;
  const size_t end = std::min(head.target.find_first_of("/?#", scheme.size()), head.target.size());
  if (head.target.find('#', end) != std::string::npos) return std::nullopt;
  const std::string authority = head.target.substr(scheme.size(), end - scheme.size());
  const std::string path = head.target.substr(end);
  head.target = path.starts_with('/') ? path : "/" + path;
  return authority;
}

// Servers differ in what they forgive in a request line (blanks before it, tabs, bytes that are no
// text, no version), so anything that one of them might serve counts as a request: the parser then
// refuses what is not exactly one.
std::optional<bool> looks_like_http(std::string_view bytes) {
  constexpr std::string_view kBlanks = " \t\v\f";
  bytes.remove_prefix(std::min(bytes.find_first_not_of(" \t\v\f\r\n"), bytes.size()));
  const auto line = bytes.substr(0, bytes.find_first_of("\r\n"));
  const auto method = line.substr(0, line.find_first_of(kBlanks));
  const auto is_method_character = [](char c) { return (c >= 'A' && c <= 'Z') || c == '-'; };
  const bool has_method = std::ranges::all_of(method, is_method_character);
  if (line.size() < bytes.size()) {
    const auto target =
        line.substr(std::min(line.find_first_not_of(kBlanks, method.size()), line.size()));
    const bool is_simple =
        method == "GET" && (target.starts_with('/') || target.find("://") != target.npos);
    return is_simple || ascii_lower(line).find("http/") != std::string::npos;
  }
  // Wait for more only after an upper-case method: a client of another protocol may have sent a
  // word without a line end and wait for the server.
  if (!has_method) return false;
  if (bytes.size() > kMaxHeadBytes) return true;
  return std::nullopt;
}

size_t ChunkedBody::take(std::string_view bytes) {
  size_t used = 0;
  while (used < bytes.size() && !done() && !bad()) {
    if (state_ == State::data) {
      const auto skip = static_cast<size_t>(std::min<uint64_t>(left_, bytes.size() - used));
      used += skip;
      left_ -= skip;
      if (left_ == 0) state_ = State::data_cr;
    } else {
      step(bytes[used]);
      if (!bad()) ++used;
    }
  }
  return used;
}

void ChunkedBody::size_digit(char c) {
  const bool decimal = c >= '0' && c <= '9';
  const char lower = static_cast<char>(c | 0x20);
  if (!decimal && (lower < 'a' || lower > 'f')) {
    if (digits_ == 0 || (c != '\r' && c != ';')) state_ = State::bad;
    if (state_ != State::bad) state_ = c == ';' ? State::extension : State::size_end;
    return;
  }
  if (++digits_ > 15) state_ = State::bad;
  left_ = left_ << 4 | static_cast<uint64_t>(decimal ? c - '0' : lower - 'a' + 10);
}

void ChunkedBody::step(char c) {
  const auto expect = [&](char wanted, State next) { state_ = c == wanted ? next : State::bad; };
  switch (state_) {
    case State::size:
      return size_digit(c);
    case State::extension:
      if (c == '\r') return expect('\r', State::size_end);
      if ((c < 0x20 && c != '\t') || c == 0x7f || ++extension_ > kMaxExtension) state_ = State::bad;
      return;
    case State::size_end:
      expect('\n', left_ > 0 ? State::data : State::last_cr);
      return;
    case State::data_cr:
      return expect('\r', State::data_lf);
    case State::data_lf:
      digits_ = extension_ = 0;
      return expect('\n', State::size);
    case State::last_cr:
      return expect('\r', State::last_lf);
    case State::last_lf:
      return expect('\n', State::done);
    default:
      state_ = State::bad;
  }
}

}  // namespace sandgate::egress
