#include "local/egress/answer_begin.hpp"

#include <gtest/gtest.h>

namespace sandgate::egress::test {
namespace {

const std::string kSwitch = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n";

// The same, however the host's bytes are cut.
std::string passed(const std::string& answer, bool asks_for_websocket,
                   AnswerBegin* last = nullptr) {
  AnswerBegin whole(asks_for_websocket);
  const std::string at_once = whole.take(answer);
  AnswerBegin cut(asks_for_websocket);
  std::string pieces;
  for (const char byte : answer) pieces += cut.take({&byte, 1});
  EXPECT_EQ(pieces, at_once);
  EXPECT_EQ(cut.is_over(), whole.is_over());
  EXPECT_EQ(cut.wrong(), whole.wrong());
  EXPECT_EQ(cut.rest(), whole.rest());
  if (last) last->take(answer);
  return at_once;
}

TEST(AnswerBegin, TellsThatTheConnectionEnds) {
  EXPECT_EQ(passed("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", false),
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
  EXPECT_EQ(passed("HTTP/1.0 200 OK\n\nConnection: keep-alive\n", false),
            "HTTP/1.0 200 OK\nConnection: close\r\n\nConnection: keep-alive\n");
}

TEST(AnswerBegin, LeavesOutWhatTheHostSaysOfItsOwnConnection) {
  EXPECT_EQ(passed("HTTP/1.1 204 No\r\nconnection: Keep-Alive\r\nX: y\r\nKEEP-ALIVE: timeout=5\r\n"
                   "Proxy-Connection: keep-alive\r\n\r\n",
                   false),
            "HTTP/1.1 204 No\r\nConnection: close\r\nX: y\r\n\r\n");
}

TEST(AnswerBegin, KeepsFoldedFieldsTogether) {
  EXPECT_EQ(passed("HTTP/1.1 200 OK\r\nConnection: a,\r\n b\r\n\r\n", false),
            "HTTP/1.1 200 OK\r\nConnection: close\r\nConnection: a,\r\n b\r\n\r\n");
}

TEST(AnswerBegin, PassesInterimAnswersAtOnceAndUnchanged) {
  const std::string interim = "HTTP/1.1 100 Continue\r\nConnection: x\r\n\r\n";
  AnswerBegin begin(false);
  EXPECT_EQ(begin.take(interim + "HTTP/1.1 103 Early"), interim);
  EXPECT_FALSE(begin.is_over());
  EXPECT_EQ(begin.take("\r\n\r\nHTTP/1.1 200 OK\r\n"), "HTTP/1.1 103 Early\r\n\r\n");
  EXPECT_EQ(begin.take("\r\nbody"), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nbody");
  EXPECT_TRUE(begin.is_over());
}

TEST(AnswerBegin, PassesOnWhatIsNoHead) {
  for (const std::string answer :
       {"ICY 200 OK\r\n\r\n", "HTTP/2 200\r\n", "H\n", "\r\nHTTP/1.1 200 OK\r\n\r\n"})
    EXPECT_EQ(passed(answer, true), answer);
}

TEST(AnswerBegin, SwitchesToTheWebSocketThatWasAskedFor) {
  for (const std::string before : {"", "HTTP/1.1 103 Early Hints\r\n\r\n"}) {
    AnswerBegin begin(true);
    EXPECT_EQ(passed(before + kSwitch + "frames", true, &begin), before + kSwitch + "frames");
    EXPECT_TRUE(begin.switches());
    EXPECT_EQ(begin.wrong(), "");
  }
}

TEST(AnswerBegin, RefusesOtherSwitches) {
  const std::string early = "HTTP/1.1 103 Early Hints\r\n\r\n";
  EXPECT_EQ(passed(early + kSwitch + "frames", false), early);
  AnswerBegin unasked(false), other(true);
  unasked.take(early + kSwitch);
  EXPECT_EQ(unasked.wrong(), "other_protocol");
  EXPECT_FALSE(unasked.switches());
  EXPECT_EQ(other.take("HTTP/1.0 101 Switching\r\nUpgrade: h2c\r\n\r\n"), "");
  EXPECT_EQ(other.wrong(), "other_protocol");
}

TEST(AnswerBegin, HoldsNoMoreThanAHead) {
  const std::string endless = "HTTP/1.1 200 OK\r\nX: " + std::string(70'000, 'x');
  AnswerBegin plain(false), switching(true);
  EXPECT_EQ(plain.take(endless), endless);
  EXPECT_TRUE(plain.is_over());
  EXPECT_EQ(switching.take("HTTP/1.1 101 OK\r\nX: " + std::string(70'000, 'x')), "");
  EXPECT_EQ(switching.wrong(), "other_protocol");
}

TEST(AnswerBegin, JudgesALongHeadAlikeHoweverItIsCut) {
  const std::string filler = "X: " + std::string(65'536, 'x') + "\r\n";
  const std::string plain = "HTTP/1.1 200 OK\r\n" + filler + "Connection: keep-alive\r\n\r\nbody";
  EXPECT_EQ(passed(plain, false), plain);
  // A program finds the end of such a head elsewhere, and takes other bytes for frames.
  const std::string early = "HTTP/1.1 101 OK\r\nUpgrade: websocket\r\n" + filler + "\r\nframes",
                    late = "HTTP/1.1 101 OK\r\n" + filler + "Upgrade: websocket\r\n\r\nframes";
  for (const std::string& answer : {early, late}) {
    AnswerBegin begin(true);
    EXPECT_EQ(passed(answer, true, &begin), "");
    EXPECT_EQ(begin.wrong(), "other_protocol");
    EXPECT_FALSE(begin.switches());
  }
}

TEST(AnswerBegin, ReturnsAHeadThatBreaksOff) {
  AnswerBegin begin(true);
  EXPECT_EQ(begin.take("HTTP/1.1 101 Sw"), "");
  EXPECT_EQ(begin.rest(), "HTTP/1.1 101 Sw");
}

}  // namespace
}  // namespace sandgate::egress::test
