#pragma once
#include <optional>
#include <string>

#include "gateway/http/limits.hpp"
#include "gateway/http/stream_body.hpp"
#include "gateway/http/transport.hpp"

namespace sandgate::http {

// Writes one streaming answer to a connection; the head is sent with the first bytes.
class StreamSink final : public BodySink {
 public:
  struct Frame {
    std::optional<uint64_t> length;  // the exact number of bytes to write
    bool chunked = false;
  };
  StreamSink(Transport& transport, const Limits& limits, std::string head, Frame frame)
      : transport_(transport), limits_(limits), head_(std::move(head)), frame_(frame) {}

  // Throws Error(internal) for bytes beyond Frame::length.
  Task<void> write(std::span<const char> bytes) override;
  // Sends the head alone, so that the client sees the stream begin before its first data.
  Task<void> flush();
  bool started() const { return started_; }  // whether anything was sent
  // Ends the body. Throws Error(internal) if bytes of Frame::length are missing.
  Task<void> finish();

 private:
  Transport& transport_;
  const Limits& limits_;
  std::string head_;
  Frame frame_;
  uint64_t written_ = 0;
  bool started_ = false;
};

}  // namespace sandgate::http
