#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "gateway/core/json_reader.hpp"
#include "gateway/http/message.hpp"
#include "providers/sandbox.hpp"

// HTTP's conditions on a file (RFC 9110 sections 13 and 14), as values.
namespace sandgate::api {

// {name,path,type,size,mode,modified_at,target?}; mode is octal text ("0644"), as PUT takes it.
Json to_json(const FileEntry& entry);

// A strong tag: it changes with size and modification time (microseconds).
std::string entity_tag(const FileEntry& entry);

// Whether an If-None-Match value names the tag ("*" names every one; weak comparison).
bool names_tag(std::string_view header, std::string_view tag);

// Whether a file may be written under If-Match and If-None-Match; `tag` is that of what is there,
// empty for nothing. If-Match compares strongly.
bool may_write(std::optional<std::string_view> if_match,
               std::optional<std::string_view> if_none_match,
               const std::optional<std::string>& tag);

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
