#include "local/egress/coded_head.hpp"

#include <algorithm>
#include <initializer_list>

#include "gateway/core/field_text.hpp"
#include "gateway/core/number_text.hpp"
#include "local/egress/response_head.hpp"

namespace sandgate::egress {
namespace {

bool is_one_of(std::initializer_list<std::string_view> words, std::string_view word) {
  return std::ranges::any_of(words, [&](auto one) { return equal_ignoring_case(one, word); });
}

// Of one word in Content-Encoding. Some servers say there what is no coding, or name a charset.
ContentCoding coding_of(std::string_view word) {
  if (is_one_of({"", "identity", "none", "utf-8"}, word)) return ContentCoding::none;
  if (is_one_of({"gzip", "x-gzip"}, word)) return ContentCoding::gzip;
  return equal_ignoring_case(word, "deflate") ? ContentCoding::deflate : ContentCoding::unknown;
}

// What says how the content is coded or framed, how long it is, or what its sum is. ETag stays: it
// is for the host, which knows it only as it is.
bool describes_coded_content(std::string_view name) {
  return is_one_of({"content-encoding", "content-length", "transfer-encoding", "trailer",
                    "accept-ranges", "content-md5", "digest", "content-digest", "repr-digest"},
                   name);
}

}  // namespace

ContentCoding content_coding(std::string_view head) {
  ContentCoding found = ContentCoding::none;
  while (!head.empty()) {
    const auto [name, value] = response_field(take_response_line(head));
    if (!equal_ignoring_case(name, "content-encoding")) continue;
    for (size_t at = 0; at <= value.size();) {
      const size_t end = std::min(value.find(',', at), value.size());
      const ContentCoding one = coding_of(trimmed(value.substr(at, end - at)));
      if (one != ContentCoding::none)
        found = found == ContentCoding::none ? one : ContentCoding::unknown;
      at = end + 1;
    }
  }
  return found;
}

ContentLength content_length(std::string_view head) {
  ContentLength length;
  while (!head.empty()) {
    const auto [name, value] = response_field(take_response_line(head));
    if (!equal_ignoring_case(name, "content-length")) continue;
    const auto bytes = number_from<uint64_t>(value);
    if (length.bytes || !bytes) length.is_wrong = true;
    length.bytes = bytes.value_or(0);
  }
  return length;
}

std::string decoded_head(std::string_view head, bool in_chunks) {
  constexpr std::string_view kOldVersion = "HTTP/1.0 ", kVersion = "HTTP/1.1 ";
  std::string text(take_response_line(head));
  // Of HTTP/1.0, chunks would be part of the content.
  if (in_chunks && text.starts_with(kOldVersion)) text.replace(0, kVersion.size(), kVersion);
  if (in_chunks) text += "Transfer-Encoding: chunked\r\n";
  while (!head.empty()) {
    const std::string_view line = take_response_line(head);
    if (!describes_coded_content(response_field(line).name)) text += line;
  }
  return text;
}

}  // namespace sandgate::egress
