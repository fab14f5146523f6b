#pragma once
#include "gateway/http/request.hpp"
#include "gateway/http/response.hpp"
#include "gateway/sandboxes/access.hpp"

namespace sandgate::api {

// GET and HEAD of a file's bytes: Range and If-Range, conditions, entity tag. The file's entry
// travels in X-Sandgate-Entry (ASCII JSON), so that a reader needs no second call for it.
Task<http::Response> download(OpenSandbox box, const http::Request& request, std::string path);

// 412 `conflict`: the file is not as the request's conditions say.
http::Response precondition_failed(const std::string& request_id);

// The same bytes after the first of them were read: what fails at once, fails as an answer. Throws
// what reading throws.
Task<std::unique_ptr<ByteSource>> begun(std::unique_ptr<ByteSource> source);

// A body that pulls from `source`, at most `length` bytes; with a length, a source that ends
// earlier breaks the answer off rather than pretending completeness. `activity` lives as long.
http::StreamBody body_of(std::unique_ptr<ByteSource> source, std::optional<uint64_t> length,
                         std::shared_ptr<void> activity);

}  // namespace sandgate::api
