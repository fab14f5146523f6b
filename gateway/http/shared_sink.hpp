#pragma once
#include <chrono>
#include <string>

#include "gateway/http/stream_body.hpp"

namespace sandgate::http {

// Serializes several writers of one streaming answer. For coroutines of one loop.
class SharedSink {
 public:
  SharedSink(BodySink& sink, asio::any_io_executor executor)
      : sink_(sink), free_(std::move(executor), asio::steady_timer::time_point::max()) {}

  // Returns once the connection accepted the bytes.
  Task<void> write(std::string bytes);
  // Writes `sign` after each `interval` without another write. Never returns.
  Task<void> keep_alive(std::chrono::milliseconds interval, std::string sign);

 private:
  BodySink& sink_;
  asio::steady_timer free_;  // cancelled when a write ends, to wake waiting writers
  bool writing_ = false;
  uint64_t writes_ = 0;
};

}  // namespace sandgate::http
