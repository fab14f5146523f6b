#include "local/egress/secret_header.hpp"

#include <gtest/gtest.h>

#include "gateway/core/crypto.hpp"
#include "local/egress/mask.hpp"

namespace sandgate::egress {
namespace {

const std::string kPlaceholder = "sgs_0123456789abcdef0123456789abcdef";

SecretGrants one_secret() {
  return {"1", {{"KEY", "api.example.com", "Authorization", kPlaceholder, Secret("real value")}}};
}

RequestHead request(const std::string& name, const std::string& value,
                    const std::string& method = "GET") {
  RequestHead head;
  head.method = method;
  head.target = "/" + kPlaceholder;
  head.fields = {{"Host", "api.example.com"}, {name, value}};
  return head;
}

std::string sent(RequestHead head, const std::string& host = "api.example.com") {
  put_secrets(head, host, one_secret());
  EXPECT_EQ(head.target, "/" + kPlaceholder);
  return head.fields[1].value;
}

TEST(SecretHeader, PutsTheValueInTheDeclaredHeader) {
  EXPECT_EQ(sent(request("authorization", "Bearer " + kPlaceholder)), "Bearer real value");
  EXPECT_EQ(sent(request("Authorization", kPlaceholder)), "real value");
  EXPECT_EQ(sent(request("Authorization", "Basic " + base64_encode("user:" + kPlaceholder))),
            "Basic " + base64_encode("user:real value"));
}

TEST(SecretHeader, LeavesEverythingElseAlone) {
  for (const char* name : {"X-Api-Key", "User-Agent", "Cookie", "Referer"})
    EXPECT_EQ(sent(request(name, kPlaceholder)), kPlaceholder);
  EXPECT_EQ(sent(request("Authorization", kPlaceholder), "other.example.com"), kPlaceholder);
  for (const char* method : {"TRACE", "TraCe", "OPTIONS"})
    EXPECT_EQ(sent(request("Authorization", kPlaceholder, method)), kPlaceholder);
  const std::string cut = kPlaceholder.substr(0, kPlaceholder.size() - 1);
  EXPECT_EQ(sent(request("Authorization", cut)), cut);
  EXPECT_EQ(sent(request("Authorization", "Basic not base64")), "Basic not base64");
}

TEST(SecretHeader, NamesAllThatAnAnswerMustNotShow) {
  const auto hidden = [](RequestHead head) {
    std::vector<std::string> texts;
    for (const Secret& one : put_secrets(head, "api.example.com", one_secret()))
      texts.push_back(one.reveal());
    return texts;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(hidden(request("Authorization", kPlaceholder)), Texts{"real value"});
  EXPECT_EQ(hidden(request("Authorization", "nothing")), Texts{"real value"});
  EXPECT_EQ(hidden(request("Authorization", "Basic " + base64_encode("u:" + kPlaceholder))),
            (Texts{"real value", base64_encode("u:real value")}));
}

std::string shown_of(const std::string& text, size_t piece) {
  Mask mask({Secret("real value")});
  std::string shown;
  for (size_t at = 0; at < text.size(); at += piece) shown += mask.pass(text.substr(at, piece));
  return shown + mask.rest();
}

TEST(Mask, HidesValuesThatChunksCut) {
  const std::string head =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 real value\r\nTransfer-Encoding: Chunked\r\n\r\n";
  const std::string body =
      "6\r\nit: re\r\n2\r\nal\r\nA\r\n value, 6\r\r\n1;x=real value\r\n!\r\n0\r\nX: real "
      "value\r\n\r\n";
  const std::string hidden =
      "6\r\nit: **\r\n2\r\n**\r\nA\r\n******, 6\r\r\n1;x=**********\r\n!\r\n0\r\nX: "
      "**********\r\n\r\n";
  std::string shown_head = head;
  shown_head.replace(head.find("real value"), 10, 10, '*');
  for (size_t piece = 1; piece <= head.size() + body.size(); ++piece)
    EXPECT_EQ(shown_of(head + body, piece), shown_head + hidden) << piece;
}

TEST(Mask, PassesOnWhatIsNoAnswer) {
  for (const std::string text :
       {"", "real", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nreal val",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabcdef",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n5"})
    for (size_t piece = 1; piece < 9; ++piece) EXPECT_EQ(shown_of(text, piece), text);
}

TEST(Mask, KeepsNoFramingWithoutEnd) {
  for (const char* framing : {"\r", "0"}) {
    Mask mask({Secret("real value")});
    const std::string begin = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nreal\r\n";
    size_t kept = begin.size() - mask.pass(begin).size();
    for (int i = 0; i < 1000; ++i) kept += 1 - mask.pass(framing).size();
    EXPECT_LT(kept, 100u) << framing;
  }
}

TEST(Mask, HidesValuesWhateverThePieces) {
  const std::string text = "You sent: real value and real valu and real real value.";
  const std::string wanted = "You sent: ********** and real valu and real **********.";
  for (size_t piece = 1; piece <= text.size(); ++piece)
    EXPECT_EQ(shown_of(text, piece), wanted) << piece;
  EXPECT_EQ(Mask().pass("real value"), "real value");
}

}  // namespace
}  // namespace sandgate::egress
