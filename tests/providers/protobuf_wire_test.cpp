#include "providers/transport/protobuf_wire.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "gateway/core/error.hpp"

namespace sandgate::protobuf {
namespace {

using namespace std::string_literals;

bool is_refused(std::string_view bytes) {
  try {
    const Message message(bytes);
    return false;
  } catch (const Error& error) {
    return error.code == ErrorCode::unavailable;
  }
}

// The bytes of the examples in the description of the encoding.
TEST(ProtobufWire, FieldsAreWrittenAsTheEncodingHasThem) {
  EXPECT_EQ(Writer().number(1, 150).bytes(), "\x08\x96\x01");
  EXPECT_EQ(Writer().text(2, "testing").bytes(), "\x12\x07testing");
  EXPECT_EQ(Writer().message(3, Writer().number(1, 150)).bytes(), "\x1a\x03\x08\x96\x01");
  EXPECT_EQ(Writer().message(3, Writer()).bytes(), "\x1a\0"s);
  EXPECT_EQ(Writer().real32(1, 1).bytes(), "\x0d\0\0\x80\x3f"s);
  EXPECT_EQ(Writer().fixed64(1, 1).bytes(), "\x09\x01\0\0\0\0\0\0\0"s);
  EXPECT_EQ(Writer().entry(1, "a", "b").bytes(), "\x0a\x06\x0a\x01\x61\x12\x01\x62");
  EXPECT_EQ(Writer().number(1, ~uint64_t{0}).bytes(), "\x08" + std::string(9, '\xff') + "\x01");
  EXPECT_EQ(Writer().number(20, 1).bytes(), "\xa0\x01\x01");
}

TEST(ProtobufWire, WhatHasNoValueIsLeftOut) {
  EXPECT_EQ(Writer().number(1, 0).text(2, "").real32(3, 0).fixed64(4, 0).bytes(), "");
}

TEST(ProtobufWire, WhatWasWrittenIsRead) {
  const uint64_t most = std::numeric_limits<uint64_t>::max();
  const std::string bytes = Writer()
                                .number(1, most)
                                .text(2, "ü\n")
                                .real32(3, 2.5F)
                                .fixed64(4, most)
                                .message(5, Writer().text(1, "a"))
                                .message(5, Writer().text(1, "b"))
                                .text(6, "x")
                                .text(6, "y")
                                .bytes();
  const Message message(bytes);
  EXPECT_EQ(message.number(1), most);
  EXPECT_EQ(message.text(2), "ü\n");
  EXPECT_EQ(message.real32(3), 2.5F);
  EXPECT_EQ(message.fixed64(4), most);
  EXPECT_EQ(message.messages(5).size(), 2u);
  EXPECT_EQ(message.message(5)->text(1), "b");
  EXPECT_EQ(message.texts(6), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(message.text(6), "y");
  EXPECT_TRUE(message.has(6));
  EXPECT_FALSE(message.has(7));
  EXPECT_EQ(message.text(7), "");
  EXPECT_EQ(message.number(7), 0u);
  EXPECT_FALSE(message.message(7));
}

TEST(ProtobufWire, BytesThatAreNoMessageAreRefused) {
  EXPECT_FALSE(is_refused(""));
  EXPECT_TRUE(is_refused("\x08"));  // no value
  EXPECT_TRUE(is_refused("\x08\x96"));  // a value without its end
  EXPECT_TRUE(is_refused("\x08" + std::string(10, '\xff')));  // more than 64 bits
  EXPECT_TRUE(is_refused("\x08" + std::string(9, '\xff') + "\x02"));
  EXPECT_TRUE(is_refused("\x12\x07test"));  // longer than what there is
  EXPECT_TRUE(is_refused("\x12" + std::string(9, '\xff') + "\x01"));  // 2^64-1 bytes
  EXPECT_TRUE(is_refused("\x0d\0\0"s));
  EXPECT_TRUE(is_refused("\x09\0\0\0\0"s));
  EXPECT_TRUE(is_refused("\x00\x01"s));  // field 0
  EXPECT_TRUE(is_refused("\x0b\x0c"));  // a group
  EXPECT_TRUE(is_refused("\x0f"));  // no such type
  EXPECT_TRUE(is_refused(std::string(10, '\xff')));
}

TEST(ProtobufWire, EveryCutOfAMessageIsRefusedOrShorter) {
  const std::string whole = Writer().number(1, 300).text(2, "testing").real32(3, 1).bytes();
  for (size_t length = 0; length < whole.size(); ++length) {
    const std::string cut = whole.substr(0, length);
    const bool between = length == 0 || length == 3 || length == 12;
    EXPECT_EQ(is_refused(cut), !between) << length;
  }
}

TEST(ProtobufWire, AFieldOfAnotherTypeIsRefused) {
  const std::string bytes = Writer().number(1, 7).text(2, "\xff\xfe").bytes();
  const Message message(bytes);
  EXPECT_THROW(message.text(1), Error);
  EXPECT_THROW(message.message(1), Error);
  EXPECT_THROW(message.number(2), Error);
  EXPECT_THROW(message.text(2), Error);  // no UTF-8
  EXPECT_THROW(message.texts(2), Error);
  EXPECT_EQ(message.bytes(2), "\xff\xfe");
  EXPECT_THROW(message.message(2), Error);
}

}  // namespace
}  // namespace sandgate::protobuf
