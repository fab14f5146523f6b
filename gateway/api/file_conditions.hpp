#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "gateway/core/json_reader.hpp"
#include "gateway/http/headers.hpp"
#include "providers/sandbox.hpp"

// HTTP's conditional and range requests for files (RFC 9110 sections 13 and 14). Pure, but
// that a date's year of two digits depends on the present.
namespace sandgate::api {

// {name,path,type,size,mode,modified_at,target?}; mode is octal text ("0644"), as in PUT.
Json to_json(const FileEntry& entry);

// Made from size, modification time (microseconds) and revision. Weak without a revision, because a
// change may preserve size and time.
std::string entity_tag(const FileEntry& entry);

// Whether a list of tags contains the tag or "*": matches_tag for If-None-Match (weak comparison),
// matches_tag_strongly for If-Match (strong comparison, which a weak tag never matches).
bool matches_tag(std::string_view header, std::string_view tag);
bool matches_tag_strongly(std::string_view header, std::string_view tag);

// The conditions of a request, which must outlive this object.
struct Conditions {
  std::optional<std::string> match, none_match;
  std::optional<std::string_view> modified_since, unmodified_since;

  explicit Conditions(const http::Headers& headers);
  // Whether a write or removal has conditions.
  bool any() const { return match || none_match || unmodified_since; }
  // Whether the existing file (empty: none) satisfies If-Match or, without that header,
  // If-Unmodified-Since. What is no date is ignored.
  bool expect(const std::optional<FileEntry>& there) const;
  // Whether it also satisfies If-None-Match.
  bool allow_write(const std::optional<FileEntry>& there) const;
  // Whether a reader has the existing file already, by If-None-Match or, without that header, by
  // If-Modified-Since.
  bool is_known(const FileEntry& there) const;
};

// Whether an If-Range names the file as it is, by a strong tag or by the date that Last-Modified
// has.
bool matches_version(std::string_view if_range, const FileEntry& there);

// A requested byte range. Multiple or malformed ranges are ignored.
struct RequestedRange {
  std::optional<uint64_t> first;  // empty: the last `count` bytes
  std::optional<uint64_t> last;  // inclusive
  uint64_t count = 0;
};
std::optional<RequestedRange> range_from(std::string_view header);

// The range within a file of `size` bytes; empty if not satisfiable (416).
std::optional<ByteRange> resolve(const RequestedRange& range, uint64_t size);

// Returns "attachment" with the file name, encoded as in RFC 6266 and RFC 8187, so that no byte of
// the name can end the header.
std::string content_disposition(std::string_view name);

}  // namespace sandgate::api
