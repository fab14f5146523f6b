#include "gateway/api/file_download.hpp"

#include "gateway/api/file_conditions.hpp"
#include "gateway/http/date.hpp"
#include "gateway/http/problem.hpp"

namespace sandgate::api {
namespace {

// Large enough for the wake-up per piece to be negligible.
constexpr size_t kPiece = 512 << 10;
constexpr size_t kFirstPart = 64 << 10;

Task<void> copy(ByteSource& source, http::BodySink& sink, std::optional<uint64_t> length) {
  std::vector<char> buffer(length ? std::min<uint64_t>(kPiece, std::max<uint64_t>(*length, 1))
                                  : kPiece);
  uint64_t left = length.value_or(UINT64_MAX);
  while (left > 0) {
    const std::span<char> room(buffer.data(), std::min<uint64_t>(buffer.size(), left));
    const size_t count = co_await source.read(room);
    if (count == 0) break;
    const std::span<const char> bytes(buffer.data(), count);
    co_await sink.write(bytes);
    left -= count;
  }
  if (length && left > 0) throw Error(ErrorCode::unavailable, "the file ended early");
}

// The parsed headers of a download. HTTP has no ranges but of GET.
struct Asked {
  explicit Asked(const http::Request& request)
      : if_range(request.headers.find("If-Range")), conditions(request.headers) {
    const auto text = request.headers.find("Range");
    if (text && request.method == http::Method::get) range = range_from(*text);
  }
  bool wants_part_of(const FileEntry& entry) const {
    return range && (!if_range || matches_version(*if_range, entry));
  }

  std::optional<RequestedRange> range;
  std::optional<std::string_view> if_range;
  Conditions conditions;
};

void describe(http::Response& response, const FileEntry& entry) {
  response.content_type = "application/octet-stream";
  response.headers.emplace_back("ETag", entity_tag(entry));
  // A program may set any time; HTTP has none that is yet to come.
  const Time modified = std::min(entry.modified_at, SystemClock().now());
  response.headers.emplace_back("Last-Modified", http::date_text(modified));
  response.headers.emplace_back("Accept-Ranges", "bytes");
  response.headers.emplace_back("Content-Disposition", content_disposition(entry.name));
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  response.headers.emplace_back("Cache-Control", "private, no-cache");
  response.headers.emplace_back("X-Sandgate-Entry", to_json(entry).dump(-1, ' ', true));
}

http::Response not_satisfiable(const FileEntry& entry, const std::string& request_id) {
  const Error error = Error::invalid("/Range", "lies outside the file");
  http::Response response = http::problem(error, 416, request_id);
  response.headers.emplace_back("Content-Range", "bytes */" + std::to_string(entry.size));
  response.headers.emplace_back("ETag", entity_tag(entry));
  response.headers.emplace_back("X-Sandgate-Entry", to_json(entry).dump(-1, ' ', true));
  return response;
}

// `part` must have an end.
std::string content_range(const ByteRange& part, uint64_t size) {
  return "bytes " + std::to_string(part.first) + "-" + std::to_string(*part.last) + "/" +
         std::to_string(size);
}

// Bytes that were read already, then the rest.
class BegunBytes : public ByteSource {
 public:
  BegunBytes(std::string first, std::unique_ptr<ByteSource> rest)
      : first_(std::move(first)), rest_(std::move(rest)) {}
  Task<size_t> read(std::span<char> into) override {
    if (taken_ == first_.size() && !rest_) co_return 0;
    if (taken_ == first_.size()) co_return co_await rest_->read(into);
    const size_t count = first_.copy(into.data(), into.size(), taken_);
    taken_ += count;
    co_return count;
  }

 private:
  const std::string first_;
  const std::unique_ptr<ByteSource> rest_;  // null: nothing follows
  size_t taken_ = 0;
};

// The length of a file whose reported size is 0. Files in /proc report that too, but have contents,
// whose length is not known before they are read.
Task<std::optional<uint64_t>> length_of_empty(FileContent& file) {
  std::string first(kFirstPart, '\0');
  const size_t count = co_await file.bytes->read(first);
  if (count == 0) co_return 0;
  first.resize(count);
  file.bytes = std::make_unique<BegunBytes>(std::move(first), std::move(file.bytes));
  co_return std::nullopt;
}

// What was read of a file. The entry is that of the bytes.
struct Reading {
  FileContent file;
  bool is_partial = false;  // a part is to be sent
  std::optional<ByteRange> part;  // empty: all of it, or if partial, nothing that there is
};

// Reads what is asked for. That may depend on the file's size and version, which reading tells; the
// file may be changed before it is read again.
Task<Reading> read_asked(const OpenSandbox& box, const Asked& asked, std::string path) {
  const auto read = [&](ByteRange range) {
    return box.provider->read_file(box.backend_id, path, range);
  };
  ByteRange first;
  if (asked.range) first = {asked.range->first.value_or(0), asked.range->last};
  if (asked.range && !asked.range->first) first.last = 0;  // for the size only
  Reading reading;
  auto looking = read(first);
  reading.file = co_await std::move(looking);
  const FileEntry known = reading.file.entry;
  reading.is_partial = asked.wants_part_of(known);
  if (reading.is_partial) reading.part = resolve(*asked.range, known.size);
  const bool is_read =
      !asked.range || (reading.is_partial && (asked.range->first || !reading.part));
  if (is_read || !asked.conditions.expect(known) || asked.conditions.is_known(known))
    co_return reading;
  auto again = read(reading.part.value_or(ByteRange()));
  reading.file = co_await std::move(again);
  const FileEntry& now = reading.file.entry;
  if (!reading.part || (asked.wants_part_of(now) && *reading.part->last < now.size))
    co_return reading;
  auto whole = read(ByteRange());
  reading = Reading();
  reading.file = co_await std::move(whole);
  co_return reading;
}

}  // namespace

http::Response precondition_failed(const std::string& request_id) {
  const Error error(ErrorCode::conflict, "the file is not as the request's conditions say");
  return http::problem(error, 412, request_id);
}

Task<std::unique_ptr<ByteSource>> prefetched(std::unique_ptr<ByteSource> source) {
  std::string first(kFirstPart, '\0');
  size_t filled = 0;
  for (size_t count = 1; count > 0 && filled < first.size(); filled += count)
    count = co_await source->read(std::span(first).subspan(filled));
  first.resize(filled);
  if (filled < kFirstPart) source.reset();
  co_return std::make_unique<BegunBytes>(std::move(first), std::move(source));
}

http::StreamBody body_of(std::unique_ptr<ByteSource> source, std::optional<uint64_t> length,
                         std::shared_ptr<void> activity) {
  std::shared_ptr<ByteSource> shared = std::move(source);
  return {length,
          [shared, length, activity](http::BodySink& sink) { return copy(*shared, sink, length); }};
}

Task<http::Response> download(OpenSandbox box, const http::Request& request, std::string path) {
  const Asked asked(request);
  auto reading = read_asked(box, asked, std::move(path));
  Reading read = co_await std::move(reading);
  const FileEntry& entry = read.file.entry;
  if (!asked.conditions.expect(entry)) co_return precondition_failed(request.id);
  http::Response response;
  describe(response, entry);
  if (asked.conditions.is_known(entry)) {
    response.status = 304;
    co_return response;
  }
  if (read.is_partial && !read.part) co_return not_satisfiable(entry, request.id);
  std::optional<uint64_t> length = entry.size;
  if (read.part) {
    response.status = 206;
    response.headers.emplace_back("Content-Range", content_range(*read.part, entry.size));
    length = *read.part->last - read.part->first + 1;
  }
  if (length == 0) length = co_await length_of_empty(read.file);
  response.body = body_of(std::move(read.file.bytes), length, std::make_shared<OpenSandbox>(box));
  co_return response;
}

}  // namespace sandgate::api
