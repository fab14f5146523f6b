#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Reads and writes Protocol Buffers (proto3, binary) by field number, without generated code.
namespace sandgate::protobuf {

// Builds a message. Fields with their default value are left out, as proto3 does.
class Writer {
 public:
  Writer& text(uint32_t field, std::string_view value);  // string and bytes
  Writer& number(uint32_t field, uint64_t value);  // bool, enum, int and uint of any width
  Writer& real32(uint32_t field, float value);
  Writer& fixed64(uint32_t field, uint64_t bits);  // fixed64, or the bits of a double
  // Written even if empty, because presence matters for messages.
  Writer& message(uint32_t field, const Writer& value);
  // An entry of a map<string, string>.
  Writer& entry(uint32_t field, std::string_view key, std::string_view value);

  const std::string& bytes() const { return bytes_; }

 private:
  void tag(uint32_t field, unsigned type);
  void varint(uint64_t value);
  void piece(uint32_t field, std::string_view bytes);

  std::string bytes_;
};

// Reads a received message. The constructor checks the structure and throws Error(unavailable) for
// malformed bytes. The message refers to the bytes, which must outlive it.
class Message {
 public:
  explicit Message(std::string_view bytes);

  bool has(uint32_t field) const;
  // Return the last field with that number; "" or 0 if there is none. Throw Error(unavailable) if
  // the field has another type or text is not UTF-8.
  std::string text(uint32_t field) const;
  std::string_view bytes(uint32_t field) const;
  uint64_t number(uint32_t field) const;
  float real32(uint32_t field) const;
  uint64_t fixed64(uint32_t field) const;
  std::optional<Message> message(uint32_t field) const;
  // Return all values of a repeated field.
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
