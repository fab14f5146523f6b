// What an upstream's answer must not show of secrets.
#include "local/egress/redactor.hpp"

#include <gtest/gtest.h>

#include <ctime>
#include <map>
#include <optional>

namespace sandgate::egress {
namespace {

Needles looking_for(const std::vector<std::string>& values) {
  Needles needles;
  for (const std::string& value : values)
    needles.push_back(std::make_shared<const Needle>(Secret(value)));
  return needles;
}

std::string shown_of(const std::string& text, size_t piece) {
  Redactor redactor(looking_for({"real value"}));
  std::string shown;
  for (size_t at = 0; at < text.size(); at += piece)
    shown += redactor.redact(text.substr(at, piece));
  return shown + redactor.flush();
}

const std::string kChunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

TEST(Redactor, HidesValuesThatChunksCut) {
  const std::string head =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 real value\r\nTransfer-Encoding: Chunked\r\n\r\n";
  const std::string body =
      "6\r\nit: re\r\n2\r\nal\r\nA\r\n value, 6\r\r\n1\r\n!\r\n0\r\nX: real value\r\n\r\n";
  const std::string hidden =
      "6\r\nit: **\r\n2\r\n**\r\nA\r\n******, 6\r\r\n1\r\n!\r\n0\r\nX: **********\r\n\r\n";
  std::string shown_head = head;
  shown_head.replace(head.find("real value"), 10, 10, '*');
  for (size_t piece = 1; piece <= head.size() + body.size(); ++piece)
    EXPECT_EQ(shown_of(head + body, piece), shown_head + hidden) << piece;
}

// Whatever stands beside the size is not passed on: a client cannot read it in another way.
TEST(Redactor, HidesValuesWhateverTheSizeLine) {
  const std::string zeros(30, '0');
  for (const std::string& line :
       {std::string("6"), std::string("6;x=y"), std::string("6;"), std::string("6;a=\"b;c\""),
        std::string("6 "), std::string("6\t"), std::string("6 \t ; x = y "),
        std::string("6;x=real value"), "6;" + std::string(4000, 'x')}) {
    const std::string text = kChunked + "4\r\nreal\r\n" + line + "\r\n value\r\n0\r\n\r\n";
    const std::string hidden = kChunked + "4\r\n****\r\n6\r\n******\r\n0\r\n\r\n";
    for (const size_t piece : {1u, 2u, 5u, 8000u}) EXPECT_EQ(shown_of(text, piece), hidden) << line;
  }
  for (const std::string line : {"06", "0006"}) {
    const std::string text = kChunked + "4\r\nreal\r\n" + line + "\r\n value\r\n00;x\r\n\r\n";
    const std::string hidden = kChunked + "4\r\n****\r\n06\r\n******\r\n0\r\n\r\n";
    for (const size_t piece : {1u, 2u, 5u, 8000u}) EXPECT_EQ(shown_of(text, piece), hidden) << line;
  }
  const std::string text = kChunked + "4\r\nreal\r\n" + zeros + "6\r\n value\r\n0\r\n\r\n";
  EXPECT_EQ(shown_of(text, 3), kChunked + "4\r\n****\r\n06\r\n******\r\n0\r\n\r\n");
}

// What is shown of an answer until it is lost; empty if it is not.
std::optional<std::string> shown_until_lost(const std::string& text) {
  Redactor redactor(looking_for({"real value"}));
  std::string shown;
  for (const char c : text) shown += redactor.redact({&c, 1});
  shown += redactor.flush();
  return redactor.has_failed() ? std::optional(shown) : std::nullopt;
}

TEST(Redactor, LosesWhatItDoesNotUnderstand) {
  for (const std::string& line :
       {std::string("zz"), std::string(""), std::string(" 6"), std::string("0x6"),
        std::string("+6"), std::string("6_0"), std::string("6!"), std::string("6\n"),
        std::string("6\r"), std::string("6;x\ny"), std::string(16, '1'),
        std::string(5000, '0') + "6", "6;" + std::string(5000, 'x')})
    EXPECT_EQ(shown_until_lost(kChunked + "4\r\nreal\r\n" + line + "\r\n value\r\n0\r\n\r\n"),
              kChunked + "4\r\n")
        << line;
  for (const std::string after : {"", "\n", "x\r\n", "\r\r\n"})
    EXPECT_EQ(shown_until_lost(kChunked + "4\r\nreal" + after + "6\r\n value\r\n"),
              kChunked + "4\r\n")
        << after;
  for (const std::string field :
       {"Transfer-Encoding: gzip, chunked", "Transfer-Encoding: chunked\r\nTransfer-encoding: gzip",
        "Transfer-Encoding:\r\n chunked", "TRANSFER-ENCODING: xchunked"})
    EXPECT_TRUE(shown_until_lost("HTTP/1.1 200 OK\r\n" + field + "\r\n\r\n4\r\nreal\r\n")) << field;
  EXPECT_TRUE(shown_until_lost("HTTP/1.1 200 OK\r\nX: " + std::string(70'000, 'x')));
}

TEST(Redactor, LosesALongHeadAlsoAtOnce) {
  Redactor redactor(looking_for({"real value"}));
  redactor.redact("HTTP/1.1 200 OK\r\nX: " + std::string(70'000, 'x') + "\r\n\r\nreal value");
  redactor.flush();
  EXPECT_TRUE(redactor.has_failed());
}

// A client joins the lines of a field.
TEST(Redactor, LosesFieldsOverSeveralLines) {
  for (const std::string begin : {"HTTP/1.1 200 OK\r\nX: real", "HTTP/1.1 200 OK\nX:",
                                  "HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\nHTTP/1.1 200 real",
                                  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                                  "1\r\na\r\n0\r\nX: real"})
    for (const std::string fold : {"\n ", "\r\n ", "\r\n\t", "\r\n \r\n "}) {
      const std::string end = fold.substr(0, fold.find('\n') + 1);
      EXPECT_EQ(shown_until_lost(begin + fold + "value\r\n\r\n"), begin + end) << fold;
    }
}

TEST(Redactor, FindsTheChunksOfLenientHeads) {
  for (const std::string head : {"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n",
                                 "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\r\n",
                                 "HTTP/1.0 200\r\ntransfer-encoding :\tChunked \r\n\r\n"})
    EXPECT_EQ(shown_of(head + "4\r\nreal\r\n6\r\n value\r\n0\r\n\r\n", 7),
              head + "4\r\n****\r\n6\r\n******\r\n0\r\n\r\n");
}

TEST(Redactor, PassesOnWhatHasNoChunks) {
  for (const std::string text :
       {"", "real", "HTTP/1.1 200 OK\r\n\r\nzz\r\nreal val",
        "HTTP/1.1 200 OK\r\n\r\n real\n\tvalue",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 4\r\n\r\nreal"})
    for (size_t piece = 1; piece < 9; ++piece) EXPECT_EQ(shown_of(text, piece), text);
}

const std::string kSwitched =
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\n\r\n";

// Of one frame: its first byte, and its payload.
std::string frame(uint8_t first, const std::string& payload) {
  std::string text{static_cast<char>(first)};
  if (payload.size() < 126) return text + static_cast<char>(payload.size()) + payload;
  text += 126;
  text += static_cast<char>(payload.size() >> 8);
  text += static_cast<char>(payload.size() & 0xff);
  return text + payload;
}

TEST(Redactor, HidesValuesThatFramesCut) {
  const std::string x(300, 'x'), stars(6, '*');
  const std::string text = kSwitched + frame(0x81, "a real value") + frame(0x01, x + "real") +
                           frame(0x89, "ping") + frame(0x00, "") + frame(0x80, " value" + x) +
                           frame(0x88, "real value");
  const std::string hidden = kSwitched + frame(0x81, "a **********") + frame(0x01, x + "****") +
                             frame(0x89, "ping") + frame(0x00, "") + frame(0x80, stars + x) +
                             frame(0x88, "**********");
  for (size_t piece = 1; piece <= text.size(); ++piece)
    EXPECT_EQ(shown_of(text, piece), hidden) << piece;
}

// Each is a text of its own, also between the parts of a message.
TEST(Redactor, HidesValuesInControlFrames) {
  const std::string text = kSwitched + frame(0x89, "a real value") + frame(0x01, "real") +
                           frame(0x8a, "real value") + frame(0x89, " value") +
                           frame(0x80, " value") + frame(0x88, "\x03\xe8real value");
  const std::string hidden = kSwitched + frame(0x89, "a **********") + frame(0x01, "****") +
                             frame(0x8a, "**********") + frame(0x89, " value") +
                             frame(0x80, "******") + frame(0x88, "\x03\xe8**********");
  for (size_t piece = 1; piece <= text.size(); ++piece)
    EXPECT_EQ(shown_of(text, piece), hidden) << piece;
  // One that breaks off.
  const std::string whole = kSwitched + frame(0x89, "real value!");
  const std::string part = whole.substr(0, whole.size() - 1);
  for (const size_t piece : {1u, 3u, 500u})
    EXPECT_EQ(shown_of(part, piece), part.substr(0, part.size() - 10) + "**********") << piece;
}

// Or whoever waits for a message before it sends its own would wait for ever.
TEST(Redactor, HoldsNothingBackBehindAMessage) {
  Redactor redactor(looking_for({"real value"}));
  for (const std::string& text : {kSwitched, frame(0x82, "real"), frame(0x89, "real"),
                                  frame(0x81, ""), frame(0x01, "real val") + frame(0x80, "")})
    EXPECT_EQ(redactor.redact(text), text);
  EXPECT_EQ(redactor.redact(frame(0x01, "xreal")), frame(0x01, "xreal").substr(0, 3));
}

TEST(Redactor, LosesFramesThatItCannotRead) {
  EXPECT_TRUE(shown_until_lost(kSwitched + frame(0xc1, "compressed")));
  EXPECT_TRUE(shown_until_lost(kSwitched + "\x81\x84key.real"));
  for (const uint8_t first : {0x08, 0x09, 0x0a, 0x83, 0x87, 0x8b, 0x8f})
    EXPECT_EQ(shown_until_lost(kSwitched + frame(first, "real") + frame(0x80, " value")), kSwitched)
        << int{first};
  EXPECT_TRUE(shown_until_lost(kSwitched + frame(0x89, std::string(126, 'x'))));
  EXPECT_FALSE(shown_until_lost(kSwitched + frame(0x89, std::string(125, 'x'))));
  EXPECT_TRUE(shown_until_lost("HTTP/1.1 101 S\r\nUpgrade: h2c\r\n\r\n"));
  EXPECT_FALSE(shown_until_lost(kSwitched + frame(0x81, "text")));
}

TEST(Redactor, KeepsNoFramingWithoutEnd) {
  Redactor redactor(looking_for({"real value"}));
  const std::string begin = kSwitched + frame(0x01, "real");
  size_t kept = begin.size() - redactor.redact(begin).size();
  for (int i = 0; i < 100'000 && !redactor.has_failed(); ++i)
    kept += 2 - redactor.redact(frame(0x00, "")).size();
  EXPECT_TRUE(redactor.has_failed());
  EXPECT_LT(kept, 17'000u);
  // Without anything held back it is passed on.
  Redactor idle(looking_for({"real value"}));
  idle.redact(kSwitched);
  for (int i = 0; i < 100'000; ++i) ASSERT_EQ(idle.redact(frame(0x89, "")).size(), 2u);
}

TEST(Redactor, HidesValuesWhateverThePieces) {
  const std::string text = "You sent: real value and real valu and real real value.";
  const std::string wanted = "You sent: ********** and real valu and real **********.";
  for (size_t piece = 1; piece <= text.size(); ++piece)
    EXPECT_EQ(shown_of(text, piece), wanted) << piece;
  EXPECT_EQ(Redactor().redact("real value"), "real value");
}

TEST(Redactor, HidesValuesThatOverlap) {
  for (const auto& [text, wanted] : std::map<std::string, std::string>{{"xababax", "x*****x"},
                                                                       {"aababx", "a****x"},
                                                                       {"b!c", "b*c"},
                                                                       {"aab!c", "*****"},
                                                                       {"ab cd", "ab **"},
                                                                       {"abcd", "ab**"}}) {
    Redactor redactor(looking_for({"aba", "abab", "cd", "!", "aab!c"}));
    std::string shown;
    for (const char c : text) shown += redactor.redact({&c, 1});
    EXPECT_EQ(shown + redactor.flush(), wanted);
  }
}

// Values up to 16 KiB, of which little is held back: each byte may come with framing of its own.
TEST(Redactor, HidesLongValuesAsTheyCome) {
  std::string value;
  for (int i = 0; value.size() < 5000; ++i) value += std::to_string(i * i);
  const std::string aa = std::string(300, 'a') + "secret" + std::string(300, 'a');
  for (const std::string& one : {value, aa}) {
    for (const size_t piece : {1u, 7u, 300u, 6000u}) {
      Redactor redactor(looking_for({one, "short one"}));
      const std::string text =
          "x" + one + one.substr(0, 200) + "y" + one.substr(0, 255) + "a short one" + one + one;
      std::string shown;
      size_t held = 0;
      for (size_t at = 0; at < text.size(); at += piece) {
        shown += redactor.redact(text.substr(at, piece));
        held = std::max(held, std::min(at + piece, text.size()) - shown.size());
      }
      EXPECT_LT(held, 256u);
      shown += redactor.flush();
      ASSERT_EQ(shown.size(), text.size());
      EXPECT_EQ(shown.find(one.substr(290, 20)), std::string::npos);
      EXPECT_EQ(shown.substr(0, 1 + one.size()), "x" + std::string(one.size(), '*'));
      EXPECT_TRUE(shown.ends_with(" *********" + std::string(2 * one.size(), '*')));
    }
  }
}

TEST(Redactor, HoldsLittleBackBehindManyChunks) {
  const std::string value(16'384, 'v');
  Redactor redactor(looking_for({value}));
  size_t in = 0, out = 0, held = 0;
  const auto pass = [&](const std::string& bytes) {
    in += bytes.size();
    out += redactor.redact(bytes).size();
    held = std::max(held, in - out);
  };
  pass("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (size_t i = 0; i < value.size() - 1; ++i) pass("01\r\nv\r\n");
  EXPECT_LT(held, 10'000u);
}

// A tenant's own values, in an answer of its own host: whoever searches naively takes minutes.
TEST(Redactor, TakesNoLongerForTextsThatAreAlmostAValue) {
  const std::string almost = std::string(8192, 'a') + "b" + std::string(8191, 'a');
  std::vector<std::string> values;
  for (int i = 0; i < 16; ++i) values.push_back(almost + static_cast<char>('c' + i));
  Redactor redactor(looking_for(values));
  redactor.redact("HTTP/1.1 200 OK\r\n\r\n");
  const std::clock_t begin = std::clock();
  size_t shown = 0;
  for (int i = 0; i < 16; ++i) shown += redactor.redact(almost).size();
  for (int i = 0; i < 4096; ++i) shown += redactor.redact("a").size();
  EXPECT_EQ(shown + redactor.flush().size(), 16 * almost.size() + 4096);
  // Of this process alone, and enough for one that is built to look at every access.
  EXPECT_LT(std::clock() - begin, 20 * CLOCKS_PER_SEC);
}

}  // namespace
}  // namespace sandgate::egress
