#include "providers/transport/protobuf_wire.hpp"

#include <bit>

#include "gateway/core/error.hpp"
#include "gateway/core/utf8.hpp"

namespace sandgate::protobuf {
namespace {

enum WireType : unsigned { kVarint = 0, kFixed64 = 1, kPiece = 2, kFixed32 = 5 };

constexpr int kVarintBits = 64;

[[noreturn]] void refuse_message() {
  throw Error(ErrorCode::unavailable, "the backend sent a malformed message");
}

uint64_t take_varint(std::string_view& rest) {
  uint64_t value = 0;
  for (int shift = 0; shift < kVarintBits && !rest.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    // The tenth byte of a varint has only one bit left.
    if (shift == kVarintBits - 1 && byte > 1) refuse_message();
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  refuse_message();
}

std::string_view take_bytes(std::string_view& rest, uint64_t count) {
  if (count > rest.size()) refuse_message();
  const std::string_view bytes = rest.substr(0, count);
  rest.remove_prefix(count);
  return bytes;
}

uint64_t little_endian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

}  // namespace

// ---- Writer

void Writer::varint(uint64_t value) {
  for (; value > 0x7F; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
  bytes_.push_back(static_cast<char>(value));
}

void Writer::tag(uint32_t field, unsigned type) {
  varint(static_cast<uint64_t>(field) << 3 | type);
}

void Writer::piece(uint32_t field, std::string_view bytes) {
  tag(field, kPiece);
  varint(bytes.size());
  bytes_ += bytes;
}

Writer& Writer::text(uint32_t field, std::string_view value) {
  if (!value.empty()) piece(field, value);
  return *this;
}

Writer& Writer::number(uint32_t field, uint64_t value) {
  if (value == 0) return *this;
  tag(field, kVarint);
  varint(value);
  return *this;
}

Writer& Writer::real32(uint32_t field, float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (bits == 0) return *this;
  tag(field, kFixed32);
  for (int shift = 0; shift < 32; shift += 8) bytes_.push_back(static_cast<char>(bits >> shift));
  return *this;
}

Writer& Writer::fixed64(uint32_t field, uint64_t bits) {
  if (bits == 0) return *this;
  tag(field, kFixed64);
  for (int shift = 0; shift < 64; shift += 8) bytes_.push_back(static_cast<char>(bits >> shift));
  return *this;
}

Writer& Writer::message(uint32_t field, const Writer& value) {
  piece(field, value.bytes_);
  return *this;
}

Writer& Writer::entry(uint32_t field, std::string_view key, std::string_view value) {
  return message(field, Writer().text(1, key).text(2, value));
}

// ---- Message

Message::Message(std::string_view bytes) : bytes_(bytes) {
  for (std::string_view rest = bytes_; !rest.empty();) take(rest);
}

Message::Field Message::take(std::string_view& rest) {
  const uint64_t tag = take_varint(rest);
  Field field;
  if (tag >> 3 == 0 || tag >> 32 != 0) refuse_message();
  field.number = static_cast<uint32_t>(tag >> 3);
  field.type = static_cast<unsigned>(tag & 7);
  switch (field.type) {
    case kVarint:
      field.value = take_varint(rest);
      break;
    case kFixed64:
      field.value = little_endian(take_bytes(rest, 8));
      break;
    case kFixed32:
      field.value = little_endian(take_bytes(rest, 4));
      break;
    case kPiece:
      field.bytes = take_bytes(rest, take_varint(rest));
      break;
    default:
      refuse_message();
  }
  return field;
}

template <class F>
void Message::each(uint32_t number, unsigned type, F visit) const {
  for (std::string_view rest = bytes_; !rest.empty();) {
    const Field field = take(rest);
    if (field.number != number) continue;
    if (field.type != type) refuse_message();
    visit(field);
  }
}

Message::Field Message::last(uint32_t number, unsigned type) const {
  Field found;
  each(number, type, [&](const Field& field) { found = field; });
  return found;
}

bool Message::has(uint32_t number) const {
  for (std::string_view rest = bytes_; !rest.empty();)
    if (take(rest).number == number) return true;
  return false;
}

std::string_view Message::bytes(uint32_t field) const { return last(field, kPiece).bytes; }

std::string Message::text(uint32_t field) const {
  const std::string_view found = bytes(field);
  if (!is_utf8(found)) refuse_message();
  return std::string(found);
}

uint64_t Message::number(uint32_t field) const { return last(field, kVarint).value; }
uint64_t Message::fixed64(uint32_t field) const { return last(field, kFixed64).value; }

float Message::real32(uint32_t field) const {
  return std::bit_cast<float>(static_cast<uint32_t>(last(field, kFixed32).value));
}

std::optional<Message> Message::message(uint32_t field) const {
  if (!has(field)) return std::nullopt;
  return Message(bytes(field));
}

std::vector<Message> Message::messages(uint32_t number) const {
  std::vector<Message> all;
  each(number, kPiece, [&](const Field& field) { all.emplace_back(field.bytes); });
  return all;
}

std::vector<std::string> Message::texts(uint32_t number) const {
  std::vector<std::string> all;
  each(number, kPiece, [&](const Field& field) {
    if (!is_utf8(field.bytes)) refuse_message();
    all.emplace_back(field.bytes);
  });
  return all;
}

}  // namespace sandgate::protobuf
