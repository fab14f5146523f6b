#include "local/egress/secret_header.hpp"

#include <gtest/gtest.h>

#include <ctime>
#include <map>

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
  for (const char* method : {"TRACE", "TraCe", "TRACK", "track", "OPTIONS"})
    EXPECT_EQ(sent(request("Authorization", kPlaceholder, method)), kPlaceholder);
  EXPECT_EQ(sent(request("Authorization", "Basic not base64")), "Basic not base64");
}

std::string_view wrong_with(RequestHead head, const SecretGrants& secrets = one_secret()) {
  return put_secrets(head, "api.example.com", secrets).wrong;
}

TEST(SecretHeader, RefusesWhatLooksLikeAPlaceholderAndIsNone) {
  const std::string cut = kPlaceholder.substr(0, kPlaceholder.size() - 1);
  const std::string other = "sgs_ffffffffffffffffffffffffffffffff";
  for (const std::string& word : {cut, other, "Bearer " + other, kPlaceholder + " " + cut,
                                  "Basic " + base64_encode("user:" + cut)})
    EXPECT_EQ(wrong_with(request("Authorization", word)), "unknown_placeholder") << word;
  EXPECT_EQ(wrong_with(request("Authorization", "Bearer " + kPlaceholder)), "");
  EXPECT_EQ(wrong_with(request("Authorization", other, "OPTIONS")), "");
  EXPECT_EQ(wrong_with(request("X-Api-Key", other)), "");
  // One of another host is none here.
  SecretGrants secrets = one_secret();
  secrets.grants.push_back({"OTHER", "else.example.com", "Authorization", other, Secret("o")});
  EXPECT_EQ(wrong_with(request("Authorization", other), secrets), "unknown_placeholder");
  secrets.grants.back().host = "api.example.com";
  EXPECT_EQ(wrong_with(request("Authorization", other + kPlaceholder), secrets), "");
}

TEST(SecretHeader, PutsValuesInAFewPlacesOnly) {
  const auto many = [](size_t count) {
    RequestHead head = request("Authorization", "");
    for (size_t i = 0; i < count; ++i) head.fields.push_back({"Authorization", kPlaceholder});
    return head;
  };
  EXPECT_EQ(wrong_with(many(8)), "");
  EXPECT_EQ(wrong_with(many(9)), "too_many_placeholders");
  std::string row;
  for (int i = 0; i < 9; ++i) row += kPlaceholder;
  EXPECT_EQ(wrong_with(request("Authorization", row)), "too_many_placeholders");
}

TEST(SecretHeader, ReadsNoValueAsAPlaceholder) {
  SecretGrants secrets = one_secret();
  secrets.grants[0].value = Secret("sgs_is how mine begins");
  RequestHead head = request("Authorization", kPlaceholder);
  EXPECT_EQ(put_secrets(head, "api.example.com", secrets).wrong, "");
  EXPECT_EQ(head.fields[1].value, "sgs_is how mine begins");
}

TEST(SecretHeader, NamesTheCredentialsThatTellAValue) {
  const auto credentials = [](RequestHead head) {
    std::vector<std::string> texts;
    const PlacedSecrets placed = put_secrets(head, "api.example.com", one_secret());
    for (const auto& one : placed.hidden) texts.push_back(one->value.reveal());
    return texts;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(credentials(request("Authorization", kPlaceholder)), Texts());
  EXPECT_EQ(credentials(request("Authorization", "Basic " + base64_encode("u:" + kPlaceholder))),
            Texts{base64_encode("u:real value")});
}

Needles looking_for(const std::vector<std::string>& values) {
  Needles needles;
  for (const std::string& value : values)
    needles.push_back(std::make_shared<const Needle>(Secret(value)));
  return needles;
}

std::string shown_of(const std::string& text, size_t piece) {
  Mask mask(looking_for({"real value"}));
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
    Mask mask(looking_for({"real value"}));
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

TEST(Mask, HidesValuesThatOverlap) {
  for (const auto& [text, wanted] : std::map<std::string, std::string>{{"xababax", "x*****x"},
                                                                       {"aababx", "a****x"},
                                                                       {"b!c", "b*c"},
                                                                       {"aab!c", "*****"},
                                                                       {"ab cd", "ab **"},
                                                                       {"abcd", "ab**"}}) {
    Mask mask(looking_for({"aba", "abab", "cd", "!", "aab!c"}));
    std::string shown;
    for (const char c : text) shown += mask.pass({&c, 1});
    EXPECT_EQ(shown + mask.rest(), wanted);
  }
}

// Values up to 16 KiB, of which little is held back: each byte may come with framing of its own.
TEST(Mask, HidesLongValuesAsTheyCome) {
  std::string value;
  for (int i = 0; value.size() < 5000; ++i) value += std::to_string(i * i);
  const std::string aa = std::string(300, 'a') + "secret" + std::string(300, 'a');
  for (const std::string& one : {value, aa}) {
    for (const size_t piece : {1u, 7u, 300u, 6000u}) {
      Mask mask(looking_for({one, "short one"}));
      const std::string text =
          "x" + one + one.substr(0, 200) + "y" + one.substr(0, 255) + "a short one" + one + one;
      std::string shown;
      size_t held = 0;
      for (size_t at = 0; at < text.size(); at += piece) {
        shown += mask.pass(text.substr(at, piece));
        held = std::max(held, std::min(at + piece, text.size()) - shown.size());
      }
      EXPECT_LT(held, 256u);
      shown += mask.rest();
      ASSERT_EQ(shown.size(), text.size());
      EXPECT_EQ(shown.find(one.substr(290, 20)), std::string::npos);
      EXPECT_EQ(shown.substr(0, 1 + one.size()), "x" + std::string(one.size(), '*'));
      EXPECT_TRUE(shown.ends_with(" *********" + std::string(2 * one.size(), '*')));
    }
  }
}

TEST(Mask, HoldsLittleBackBehindManyChunks) {
  const std::string value(16'384, 'v');
  Mask mask(looking_for({value}));
  size_t in = 0, out = 0, held = 0;
  const auto pass = [&](const std::string& bytes) {
    in += bytes.size();
    out += mask.pass(bytes).size();
    held = std::max(held, in - out);
  };
  pass("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (size_t i = 0; i < value.size() - 1; ++i) pass("0000000000001\r\nv\r\r\r\r\r\r\r\r\r\r\n");
  EXPECT_LT(held, 10'000u);
}

// A tenant's own values, in an answer of its own host: whoever searches naively takes minutes.
TEST(Mask, TakesNoLongerForTextsThatAreAlmostAValue) {
  const std::string almost = std::string(8192, 'a') + "b" + std::string(8191, 'a');
  std::vector<std::string> values;
  for (int i = 0; i < 16; ++i) values.push_back(almost + static_cast<char>('c' + i));
  Mask mask(looking_for(values));
  const std::clock_t begin = std::clock();
  size_t shown = 0;
  for (int i = 0; i < 16; ++i) shown += mask.pass(almost).size();
  for (int i = 0; i < 4096; ++i) shown += mask.pass("a").size();
  EXPECT_EQ(shown + mask.rest().size(), 16 * almost.size() + 4096);
  // Of this process alone, and enough for one that is built to look at every access.
  EXPECT_LT(std::clock() - begin, 20 * CLOCKS_PER_SEC);
}

}  // namespace
}  // namespace sandgate::egress
