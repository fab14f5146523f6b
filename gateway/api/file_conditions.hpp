#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "gateway/core/json_reader.hpp"
#include "gateway/http/headers.hpp"
#include "providers/sandbox.hpp"

// HTTP's conditions on a file (RFC 9110 sections 13 and 14), as values.
namespace sandgate::api {

// {name,path,type,size,mode,modified_at,target?}; mode is octal text ("0644"), as PUT takes it.
Json to_json(const FileEntry& entry);

// Of size, modification time (microseconds) and revision; weak where there is no revision, since
// the first two can be kept over a change.
std::string entity_tag(const FileEntry& entry);

// Whether an If-None-Match value names the tag ("*" names every one; weak comparison), and whether
// an If-Match or If-Range value does (strong comparison, in which no weak tag is like another).
bool names_tag(std::string_view header, std::string_view tag);
bool names_tag_strongly(std::string_view header, std::string_view tag);

// What a request makes its effect depend on; refers to the request.
struct Conditions {
  std::optional<std::string_view> match, none_match, unmodified_since;

  explicit Conditions(const http::Headers& headers);
  bool any() const { return match || none_match || unmodified_since; }
  // Whether what is there (empty: nothing) is what If-Match says; without it, whether it is not
  // younger than If-Unmodified-Since. A date that cannot be read is none.
  bool expect(const std::optional<FileEntry>& there) const;
  // The same, and it is not what If-None-Match names.
  bool allow_write(const std::optional<FileEntry>& there) const;
};

// One range of bytes as asked for; several ranges, or anything unreadable, count as no range.
struct AskedRange {
  std::optional<uint64_t> first;  // empty: the last `count` bytes
  std::optional<uint64_t> last;  // inclusive
  uint64_t count = 0;
};
std::optional<AskedRange> range_from(std::string_view header);

// What of a file of `size` bytes that is; empty: not satisfiable (416).
std::optional<ByteRange> resolve(const AskedRange& range, uint64_t size);

// "attachment" with the name as RFC 6266 and RFC 8187 write it: no byte of it can end the header.
std::string content_disposition(std::string_view name);

}  // namespace sandgate::api
