// Answers that are coded although nobody asked for it: what a program inside gets of them.
#include "local/egress/answer_decoder.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <map>
#include <sstream>

#include "local/egress/redactor.hpp"

namespace sandgate::egress {
namespace {

constexpr int kGzip = MAX_WBITS + 16, kZlib = MAX_WBITS, kRaw = -MAX_WBITS;
const std::string kValue = "real value";
const std::string kOk = "HTTP/1.1 200 OK\r\n", kChunks = "Transfer-Encoding: chunked\r\n";
const std::string kGzipped = kOk + "Content-Encoding: gzip\r\n";

std::string coded(const std::string& text, int bits = kGzip) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

std::string chunks(const std::string& text, size_t size) {
  std::string out;
  for (size_t at = 0; at < text.size(); at += size) {
    const std::string part = text.substr(at, size);
    std::ostringstream line;
    line << std::hex << part.size();
    out += line.str() + "\r\n" + part + "\r\n";
  }
  return out + "0\r\n\r\n";
}

struct Passed {
  std::string text;
  std::string wrong;
  bool is_over = false;
};

// What is passed on of a host's answer that arrives in pieces and ends with its connection.
Passed passed(const std::string& answer, size_t piece, AnswerDecoder::Request request = {}) {
  AnswerDecoder decoder(request);
  Passed result;
  for (size_t at = 0; at < answer.size() && decoder.wrong().empty(); at += piece) {
    decoder.take(std::string_view(answer).substr(at, piece));
    for (std::string part = decoder.next(); !part.empty(); part = decoder.next())
      result.text += part;
  }
  result.is_over = decoder.is_over();
  result.text += decoder.end();
  result.wrong = decoder.wrong();
  return result;
}

// Of an answer in chunks: its head, and the content that a client puts together.
Passed read_by_client(const std::string& text) {
  const size_t end = text.find("\r\n\r\n") + 4;
  Passed result{.text = text.substr(0, end)};
  for (size_t at = end; at < text.size();) {
    const size_t line = text.find("\r\n", at);
    const size_t size = std::stoul(text.substr(at, line - at), nullptr, 16);
    if (size == 0) {
      result.is_over = line + 4 == text.size();
      break;
    }
    result.text += text.substr(line + 2, size);
    at = line + 2 + size + 2;
  }
  return result;
}

void expect_decoded(const std::string& answer, const std::string& content) {
  for (const size_t piece : {1u, 2u, 7u, 100u, 100'000u}) {
    const Passed given = passed(answer, piece);
    EXPECT_EQ(given.wrong, "") << piece;
    const Passed read = read_by_client(given.text);
    EXPECT_EQ(read.text, kOk + kChunks + "\r\n" + content) << piece;
    EXPECT_TRUE(read.is_over) << piece;
  }
}

const std::string kText = "You sent: " + kValue + std::string(5000, '.');

TEST(AnswerDecoder, DecodesWhateverTheFraming) {
  const std::string body = coded(kText);
  const std::string length = "Content-Length: " + std::to_string(body.size()) + "\r\n";
  expect_decoded(kGzipped + "\r\n" + body, kText);
  expect_decoded(kGzipped + length + "\r\n" + body, kText);
  expect_decoded(kGzipped + length + "\r\n" + body + "behind it", kText);
  for (const size_t size : {1u, 13u, 100'000u})
    expect_decoded(kGzipped + kChunks + "\r\n" + chunks(body, size), kText);
  expect_decoded(kGzipped + kChunks + length + "\r\n" + chunks(body, 20), kText);
}

TEST(AnswerDecoder, DecodesWhatServersSend) {
  for (const std::string name : {"gzip", "GZip", "x-gzip", "identity, gzip", " gzip , "})
    expect_decoded(kOk + "content-encoding: " + name + "\r\n\r\n" + coded(kText), kText);
  for (const int bits : {kZlib, kRaw})
    expect_decoded(kOk + "Content-Encoding: deflate\r\n\r\n" + coded(kText, bits), kText);
  // A gzip file may have many members, and padding.
  const std::string two = coded(kText) + coded("") + coded("more");
  expect_decoded(kGzipped + "\r\n" + two, kText + "more");
  expect_decoded(kGzipped + "\r\n" + two + std::string(512, '\0') + coded("hidden"),
                 kText + "more");
  expect_decoded(kOk + "Content-Encoding: deflate\r\n\r\n" + coded(kText, kRaw) + coded(kText),
                 kText);
  expect_decoded(kGzipped + "\r\n" + coded(""), "");
}

// Servers name a coding also where there is nothing that is coded.
TEST(AnswerDecoder, AnEmptyContentIsWhole) {
  expect_decoded(kGzipped + "\r\n", "");
  expect_decoded(kGzipped + "Content-Length: 0\r\n\r\n", "");
  expect_decoded(kGzipped + kChunks + "\r\n0\r\n\r\n", "");
}

TEST(AnswerDecoder, DropsWhatDescribesTheCodedContent) {
  const Passed given = passed(
      "HTTP/1.0 200 OK\r\nX: a\r\nContent-Encoding: gzip\r\nETag: \"e\"\r\n"
      "content-length :99\r\nAccept-Ranges: bytes\r\nContent-MD5: x\r\n"
      "Digest: x\r\nContent-Digest: x\r\nRepr-Digest: x\r\nTrailer: Y\r\n"
      "Transfer-Encoding: chunked\r\n\r\n" +
          chunks(coded("z"), 9),
      1000);
  EXPECT_EQ(given.text,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX: a\r\nETag: \"e\"\r\n\r\n"
            "1\r\nz\r\n0\r\n\r\n");
  EXPECT_TRUE(given.is_over);
}

TEST(AnswerDecoder, ClientsOfHttp10GetNoChunks) {
  const std::string body = coded(kText);
  const std::string answer = kGzipped + kChunks + "\r\n" + chunks(body, 10);
  const Passed given = passed(answer, 50, {.knows_chunks = false});
  EXPECT_EQ(given.text, kOk + "\r\n" + kText);
  EXPECT_TRUE(given.is_over);
}

// Byte for byte, and none of it held back.
TEST(AnswerDecoder, PassesOnWhatIsNotCoded) {
  const std::string body = coded(kText);  // a file that is an archive, say
  for (const std::string& answer :
       {kOk + "\r\n" + body, kOk + "Content-Encoding: identity\r\nContent-Length: 3\r\n\r\nabcdef",
        kOk + "Content-Encoding: UTF-8\r\nContent-Encoding:\r\n\r\nabc",
        "HTTP/1.1 103 Early Hints\r\nContent-Encoding: gzip\r\n\r\n" + kOk + "\r\n" + body,
        std::string("HTTP/1.1 206 Partial\r\nContent-Range: bytes 0-2/9\r\n\r\nabc"),
        kOk + kChunks + "\r\nzz\r\n", std::string("no head"), kOk + "Content-Enc"})
    for (const size_t piece : {1u, 3u, 10'000u}) {
      const Passed given = passed(answer, piece);
      EXPECT_EQ(given.text, answer);
      EXPECT_EQ(given.wrong, "");
    }
  AnswerDecoder off;
  off.take(kGzipped + "\r\n" + body);
  EXPECT_EQ(off.next(), kGzipped + "\r\n" + body);
  AnswerDecoder switched{{}};
  const std::string head =
      "HTTP/1.1 101 S\r\nUpgrade: websocket\r\nContent-Encoding: gzip\r\n\r\n\x81\x01x";
  switched.take(head);
  EXPECT_EQ(switched.next(), head);
}

// No client reads it, but a program may.
TEST(AnswerDecoder, NothingFollowsAHeadWithoutContent) {
  const std::string fields = "Content-Encoding: gzip\r\nContent-Length: 9\r\n\r\n";
  for (const auto& [status, is_head] :
       std::map<std::string, bool>{{"200 OK", true}, {"204 No Content", false}, {"304 N", false}})
    for (const size_t piece : {1u, 1000u}) {
      const std::string head = "HTTP/1.1 " + status + "\r\n" + fields;
      const Passed given = passed(head + coded(kText), piece, {.is_head = is_head});
      EXPECT_EQ(given.text, head);
      EXPECT_TRUE(given.is_over);
      EXPECT_EQ(given.wrong, "");
    }
}

TEST(AnswerDecoder, RefusesWhatItCannotDecode) {
  const std::string body = coded(kText);
  for (const std::string name :
       {"br", "zstd", "compress", "aes128gcm", "gzip, br", "br, gzip", "gzip, gzip", "gzip;q=1",
        "gzip\r\nContent-Encoding: gzip", "identity\r\nContent-Encoding : zstd"})
    EXPECT_EQ(passed(kOk + "Content-Encoding: " + name + "\r\n\r\n" + body, 10).wrong,
              "encoded_answer")
        << name;
  const std::string partial = "HTTP/1.1 206 Partial Content\r\nContent-Encoding: gzip\r\n\r\n";
  EXPECT_EQ(passed(partial + body, 10).wrong, "encoded_answer");
  for (const std::string& field :
       {kChunks.substr(0, 19) + "gzip, chunked\r\n", std::string("Content-Length: x\r\n"),
        std::string("Content-Length: 5\r\nContent-Length: 5\r\n"), std::string("X: y\r\n z\r\n"),
        std::string("Content-Length: 99999999999999999999\r\n"), "X: " + std::string(70'000, 'x')})
    EXPECT_EQ(passed(kGzipped + field + "\r\n" + body, 1000).wrong, "malformed_answer") << field;
  for (const std::string name : {"br", "gzip, br"})
    EXPECT_EQ(passed(kOk + "Content-Encoding: " + name + "\r\n\r\n" + body, 10).text, "");
}

TEST(AnswerDecoder, RefusesALongHeadAlsoAtOnce) {
  const std::string answer =
      kGzipped + "X: " + std::string(70'000, 'x') + "\r\n\r\n" + coded(kText);
  EXPECT_EQ(passed(answer, answer.size()).wrong, "malformed_answer");
}

// Nothing has been passed on, so that there can be a refusal.
TEST(AnswerDecoder, RefusesWhatIsNotWhatItSays) {
  for (const std::string& body : {std::string("{\"this\": \"is plain\"}"), coded(kText, kZlib)})
    for (const size_t piece : {1u, 1000u}) {
      const Passed given = passed(kGzipped + "\r\n" + body, piece);
      EXPECT_EQ(given.wrong, "encoded_answer");
      EXPECT_EQ(given.text, "");
    }
  // What has no frame is seen to be wrong later.
  const std::string deflated = kOk + "Content-Encoding: deflate\r\n\r\n";
  for (const std::string& body : {std::string("{\"this\": \"is plain\"}"), coded(kText)})
    EXPECT_EQ(passed(deflated + body, 1000).wrong, "encoded_answer");
}

// What breaks off, or is damaged, must not seem to be whole.
TEST(AnswerDecoder, BreaksOffWithTheContent) {
  const std::string body = coded(kText);
  const std::string length = "Content-Length: " + std::to_string(body.size()) + "\r\n";
  const std::string part = body.substr(0, body.size() - 5);
  std::string damaged = body;
  damaged[body.size() - 6] ^= 1;  // the sum
  for (const auto& [answer, wrong] : std::map<std::string, std::string>{
           {kGzipped + "\r\n" + part, "encoded_answer"},
           {kGzipped + "\r\n" + damaged, "encoded_answer"},
           {kGzipped + "\r\n" + body + coded("x").substr(0, 5), "encoded_answer"},
           {kGzipped + kChunks + "\r\n" + chunks(part, 10), "encoded_answer"},
           {kGzipped + length + "\r\n" + part, "malformed_answer"},
           {kGzipped + kChunks + "\r\n" + chunks(body, 10).substr(0, 90), "malformed_answer"},
           {kGzipped + kChunks + "\r\n5\r\n" + part, "malformed_answer"}})
    for (const size_t piece : {1u, 1000u}) {
      const Passed given = passed(answer, piece);
      EXPECT_EQ(given.wrong, wrong);
      EXPECT_FALSE(given.text.ends_with("0\r\n\r\n"));
    }
}

// A few bytes of the host are a long content: its client takes it at its pace.
TEST(AnswerDecoder, ABombComesInPieces) {
  const size_t size = 64 << 20;
  AnswerDecoder decoder{{}};
  decoder.take(kGzipped + "\r\n" + coded(std::string(size, 'a')));
  size_t got = 0;
  for (std::string part = decoder.next(); !part.empty(); part = decoder.next()) {
    ASSERT_LE(part.size(), 17'000u);
    got += part.size();
  }
  EXPECT_GE(got, size);
}

// What all of it is for.
TEST(AnswerDecoder, LetsValuesBeMasked) {
  for (const size_t piece : {1u, 10u, 10'000u}) {
    Redactor redactor({std::make_shared<const Needle>(Secret(kValue))});
    const std::string answer = passed(kGzipped + "\r\n" + coded(kText), piece).text;
    std::string shown;
    for (size_t at = 0; at < answer.size(); at += piece)
      shown += redactor.redact(answer.substr(at, piece));
    shown += redactor.flush();
    EXPECT_FALSE(redactor.has_failed());
    EXPECT_NE(read_by_client(shown).text.find("sent: **********."), std::string::npos);
    EXPECT_EQ(shown.find(kValue), std::string::npos);
  }
}

}  // namespace
}  // namespace sandgate::egress
