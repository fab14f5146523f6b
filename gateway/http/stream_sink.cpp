#include "gateway/http/stream_sink.hpp"

#include "gateway/http/chunk_head.hpp"

namespace sandgate::http {

Task<void> StreamSink::write(std::span<const char> bytes) {
  if (bytes.empty()) co_return co_await flush();
  written_ += bytes.size();
  if (frame_.length && written_ > *frame_.length)
    throw Error(ErrorCode::internal, "a stream is longer than its declared length");
  if (frame_.chunked) head_.append(chunk_head(bytes.size()));
  started_ = true;
  const std::array<asio::const_buffer, 3> buffers{asio::buffer(head_),
                                                  asio::buffer(bytes.data(), bytes.size()),
                                                  asio::buffer("\r\n", frame_.chunked ? 2 : 0)};
  co_await transport_.write(buffers, limits_.stream_timeout);
  head_.clear();
}

Task<void> StreamSink::flush() {
  if (head_.empty()) co_return;
  started_ = true;
  const std::array<asio::const_buffer, 1> buffers{asio::buffer(head_)};
  co_await transport_.write(buffers, limits_.write_timeout);
  head_.clear();
}

Task<void> StreamSink::finish() {
  if (frame_.length && written_ != *frame_.length)
    throw Error(ErrorCode::internal, "a stream is shorter than its declared length");
  if (frame_.chunked) head_.append("0\r\n\r\n");
  co_await flush();
}

}  // namespace sandgate::http
