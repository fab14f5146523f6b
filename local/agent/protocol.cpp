#include "local/agent/protocol.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "gateway/core/error.hpp"

namespace sandgate::agent {
namespace {

uint64_t get_little(const char* from, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; ++i)
    value |= static_cast<uint64_t>(static_cast<unsigned char>(from[i])) << (8 * i);
  return value;
}

void put_little(char* into, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) into[i] = static_cast<char>(value >> (8 * i));
}

bool known(uint8_t type) {
  return type >= static_cast<uint8_t>(FrameType::request_part) &&
         type <= static_cast<uint8_t>(FrameType::end);
}

}  // namespace

FrameParser::FrameParser(size_t buffer) : limit_(std::max(buffer, kHeaderBytes + kMaxPayload)) {}

std::span<char> FrameParser::prepare() {
  if (begin_ == end_) {
    begin_ = end_ = 0;
  } else if (begin_ > 0 && (end_ == buffer_.size() || begin_ >= limit_ / 2)) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  // Most connections carry one short request: start small, double whenever it was filled.
  if (end_ == buffer_.size() || filled_)
    buffer_.resize(std::min(limit_, std::max<size_t>(4096, buffer_.size() * 2)));
  if (end_ == buffer_.size())
    throw Error(ErrorCode::invalid, "more bytes were received than were taken");
  return {buffer_.data() + end_, buffer_.size() - end_};
}

void FrameParser::commit(size_t bytes) {
  assert(bytes <= buffer_.size() - end_);
  end_ += bytes;
  filled_ = end_ == buffer_.size();
}

std::optional<Frame> FrameParser::next() {
  const size_t have = end_ - begin_;
  if (have < kHeaderBytes) return std::nullopt;
  const char* head = buffer_.data() + begin_;
  const uint64_t length = get_little(head, 4);
  const auto type = static_cast<uint8_t>(head[4]);
  if (length > kMaxPayload) throw Error(ErrorCode::invalid, "a frame is longer than 64 KiB");
  if (!known(type)) throw Error(ErrorCode::invalid, "a frame has an unknown type");
  if (have < kHeaderBytes + length) return std::nullopt;
  begin_ += kHeaderBytes + length;
  return Frame{static_cast<FrameType>(type), {head + kHeaderBytes, length}};
}

void put_header(char* into, FrameType type, size_t payload) {
  assert(payload <= kMaxPayload);
  put_little(into, payload, 4);
  into[4] = static_cast<char>(type);
}

std::string frame(FrameType type, std::string_view payload) {
  std::string bytes(kHeaderBytes, '\0');
  put_header(bytes.data(), type, payload.size());
  return bytes.append(payload);
}

std::string request_frames(std::string_view json) {
  if (json.size() > kMaxRequest)
    throw Error(ErrorCode::too_large, "the request to the sandbox is too long");
  std::string bytes;
  for (; json.size() > kMaxPayload; json.remove_prefix(kMaxPayload))
    bytes += frame(FrameType::request_part, json.substr(0, kMaxPayload));
  return bytes + frame(FrameType::request, json);
}

void put_output_prefix(char* into, uint8_t channel, uint64_t end_offset) {
  into[0] = static_cast<char>(channel);
  put_little(into + 1, end_offset, 8);
}

Output parse_output(std::string_view payload) {
  if (payload.size() <= kOutputPrefix)
    throw Error(ErrorCode::invalid, "an output frame without bytes");
  Output output{static_cast<uint8_t>(payload[0]), get_little(payload.data() + 1, 8),
                payload.substr(kOutputPrefix)};
  if (output.channel != 1 && output.channel != 2)
    throw Error(ErrorCode::invalid, "an output frame of an unknown channel");
  if (output.end_offset < output.bytes.size())
    throw Error(ErrorCode::invalid, "an output frame with an impossible offset");
  return output;
}

}  // namespace sandgate::agent
