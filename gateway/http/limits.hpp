#pragma once
#include <chrono>
#include <cstddef>

#include "gateway/core/live.hpp"

namespace sandgate::http {

// How slowly a body may come: its client is waited for as long as `patience`, in pieces or in one,
// and every `bytes_per_second` that come give back a second of what was used up.
struct Pace {
  std::chrono::milliseconds patience;
  size_t bytes_per_second;
};

// What one connection may take of the server. Durations of zero mean none.
struct Limits {
  Live<size_t> header_bytes = 16 * 1024;  // request line and fields together
  size_t target_bytes = 8 * 1024;
  size_t header_fields = 100;
  size_t websocket_message_bytes = 1 << 20;
  std::chrono::milliseconds header_timeout{10'000};  // from its first byte to its last; TLS too
  std::chrono::milliseconds idle_timeout{75'000};  // between requests
  std::chrono::milliseconds body_timeout{30'000};  // without a byte of a body that is awaited
  Pace whole_body{std::chrono::milliseconds(30'000), 64 << 10};  // read whole before it is used
  Pace upload{std::chrono::milliseconds(60'000), 1 << 10};  // used as it comes
  std::chrono::milliseconds write_timeout{30'000};  // without progress of a plain answer
  // A stream's reader may pause (its process blocks meanwhile), but not for ever.
  std::chrono::milliseconds stream_timeout{600'000};
  // Pinged at half of it, before proxies that wait a minute cut an idle terminal.
  std::chrono::milliseconds websocket_idle_timeout{90'000};
};

}  // namespace sandgate::http
