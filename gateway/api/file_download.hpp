#pragma once
#include "gateway/http/request.hpp"
#include "gateway/http/response.hpp"
#include "gateway/sandboxes/access.hpp"

namespace sandgate::api {

// Answers GET or HEAD of a file, with Range, If-Range, conditions, an entity tag and a date. The
// header X-Sandgate-Entry holds the file's entry (ASCII JSON) and saves readers a stat call.
Task<http::Response> download(OpenSandbox box, const http::Request& request, std::string path);

// 412 with code `conflict`: the file does not satisfy the request's conditions.
http::Response precondition_failed(const std::string& request_id);

// Reads the start of the stream and returns the whole of it. Throws what reading throws, so that an
// immediate failure becomes an error answer.
Task<std::unique_ptr<ByteSource>> prefetched(std::unique_ptr<ByteSource> source);

// A body of at most `length` bytes from `source`. If a length is given and `source` ends early, the
// answer is aborted rather than ended. Holds `activity` until the body is destroyed.
http::StreamBody body_of(std::unique_ptr<ByteSource> source, std::optional<uint64_t> length,
                         std::shared_ptr<void> activity);

}  // namespace sandgate::api
