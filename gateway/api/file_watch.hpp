#pragma once
#include <memory>

#include "gateway/http/response.hpp"
#include "gateway/sandboxes/access.hpp"
#include "providers/file_watch.hpp"

namespace sandgate::api {

// text/event-stream of a watch: create, write, remove, rename, overflow. The stream ends when the
// directory is gone, and holds `box` until then.
http::Response watch_stream_of(std::unique_ptr<FileWatch> watch, OpenSandbox box,
                               const std::string& request_id);

}  // namespace sandgate::api
