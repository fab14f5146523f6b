#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Messages of Protocol Buffers (proto3, binary) without generated code: fields by their numbers.
namespace sandgate::protobuf {

// Puts a message together. Where proto3 leaves a field out because it has no value, so does this.
class Writer {
 public:
  Writer& text(uint32_t field, std::string_view value);  // string and bytes
  Writer& number(uint32_t field, uint64_t value);  // bool, enum, int and uint of any width
  Writer& real32(uint32_t field, float value);
  Writer& fixed64(uint32_t field, uint64_t bits);  // fixed64; the bits of a double
  // Also when it is empty: a message that is there differs from one that is not.
  Writer& message(uint32_t field, const Writer& value);
  Writer& entry(uint32_t field, std::string_view key, std::string_view value);  // of a map

  const std::string& bytes() const { return bytes_; }

 private:
  void tag(uint32_t field, unsigned type);
  void varint(uint64_t value);
  void piece(uint32_t field, std::string_view bytes);

  std::string bytes_;
};

// A message of somebody else. The constructor walks through it, so that what is asked for later is
// there or not; it throws Error(unavailable) for bytes that are no message. Looks into the bytes it
// was made of, which must outlive it.
class Message {
 public:
  explicit Message(std::string_view bytes);

  bool has(uint32_t field) const;
  // The last field of that number; "" and 0 when there is none. Error(unavailable) for a field of
  // another type, and for text that is no UTF-8.
  std::string text(uint32_t field) const;
  std::string_view bytes(uint32_t field) const;
  uint64_t number(uint32_t field) const;
  float real32(uint32_t field) const;
  uint64_t fixed64(uint32_t field) const;
  std::optional<Message> message(uint32_t field) const;
  // All of a repeated field.
  std::vector<Message> messages(uint32_t field) const;
  std::vector<std::string> texts(uint32_t field) const;

 private:
  struct Field {
    uint32_t number = 0;
    unsigned type = 0;
    uint64_t value = 0;
    std::string_view bytes;
  };
  static Field take(std::string_view& rest);
  template <class F>
  void each(uint32_t field, unsigned type, F visit) const;
  Field last(uint32_t field, unsigned type) const;

  std::string_view bytes_;
};

}  // namespace sandgate::protobuf
