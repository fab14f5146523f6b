#pragma once
#include <chrono>
#include <string>

#include "gateway/http/stream_body.hpp"

namespace sandgate::http {

// Several writers of one answer, which takes one at a time. For coroutines of one loop.
class SharedSink {
 public:
  SharedSink(BodySink& sink, asio::any_io_executor executor)
      : sink_(sink), free_(std::move(executor), asio::steady_timer::time_point::max()) {}

  // Returns when the client took the bytes.
  Task<void> write(std::string bytes);
  // Writes `sign` whenever nothing else was written for `interval`. Never returns.
  Task<void> keep_alive(std::chrono::milliseconds interval, std::string sign);

 private:
  BodySink& sink_;
  asio::steady_timer free_;  // cancelled when a write ends
  bool writing_ = false;
  uint64_t writes_ = 0;
};

}  // namespace sandgate::http
