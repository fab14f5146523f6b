#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "gateway/core/async.hpp"

namespace sandgate::http {

// Where a streaming answer writes. write() returns when the client took the bytes (back-pressure)
// and throws boost::system::system_error when the client is gone.
class BodySink {
 public:
  virtual ~BodySink() = default;
  virtual Task<void> write(std::span<const char> bytes) = 0;
};

struct StreamBody {
  std::optional<uint64_t> length;  // Content-Length; else chunked
  std::function<Task<void>(BodySink&)> produce;  // runs on the connection's executor
  bool is_whole = false;  // all of it is there: an answer in pieces, which counts as no stream
};

}  // namespace sandgate::http
