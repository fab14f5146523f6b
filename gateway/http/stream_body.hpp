#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "gateway/core/async.hpp"

namespace sandgate::http {

// The destination of a streaming answer. write() returns once the connection accepted the bytes
// (back-pressure) and throws boost::system::system_error if the client is gone.
class BodySink {
 public:
  virtual ~BodySink() = default;
  virtual Task<void> write(std::span<const char> bytes) = 0;
};

struct StreamBody {
  std::optional<uint64_t> length;  // Content-Length; empty: chunked
  std::function<Task<void>(BodySink&)> produce;  // runs on the connection's executor
  bool is_whole = false;  // all data exists already: not counted as a stream
};

}  // namespace sandgate::http
