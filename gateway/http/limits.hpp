#pragma once
#include <chrono>
#include <cstddef>

#include "gateway/core/relaxed_atomic.hpp"

namespace sandgate::http {

// The minimum pace of a body: the time spent waiting for bytes may reach `patience`, and every
// `bytes_per_second` bytes received earn back one second.
struct Pace {
  std::chrono::milliseconds patience;
  size_t bytes_per_second;
};

// Limits of one connection. A duration of zero means no limit.
struct Limits {
  RelaxedAtomic<size_t> header_bytes = 16 * 1024;  // request line and fields together
  size_t target_bytes = 13 * 1024;  // holds a path of 4095 bytes, each percent-encoded
  size_t header_fields = 100;
  size_t websocket_message_bytes = 1 << 20;
  std::chrono::milliseconds header_timeout{10'000};  // first to last byte; also TLS handshake
  std::chrono::milliseconds idle_timeout{75'000};  // between requests
  std::chrono::milliseconds body_timeout{30'000};  // without a byte while a body is awaited
  Pace whole_body{std::chrono::milliseconds(30'000), 64 << 10};  // for bodies read whole before use
  Pace upload{std::chrono::milliseconds(60'000), 1 << 10};  // for bodies processed while received
  std::chrono::milliseconds write_timeout{30'000};  // without progress of a text answer
  // The reader of a stream may pause, which blocks the producer, but not for ever.
  std::chrono::milliseconds stream_timeout{600'000};
  // While a message is awaited. A ping is sent at half of it, before proxies cut connections idle
  // for a minute.
  std::chrono::milliseconds websocket_idle_timeout{90'000};
};

}  // namespace sandgate::http
