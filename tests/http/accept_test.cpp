#include "gateway/http/accept.hpp"

#include <gtest/gtest.h>

namespace sandgate::http {
namespace {

bool wants_events(std::string_view accept) {
  return prefers(accept, "text/event-stream", "application/json");
}

TEST(Accept, AsksForWhatItNamesWithMoreWeight) {
  for (const char* yes :
       {"text/event-stream", "TEXT/Event-Stream;charset=utf-8", "text/event-stream, */*",
        "application/json;q=0.5, text/event-stream", "text/html,\ttext/event-stream ; Q=0.1",
        "application/json;q=0, text/event-stream;q=0.001", "text/event-stream;q=much"})
    EXPECT_TRUE(wants_events(yes)) << yes;
}

TEST(Accept, KeepsToWhatIsUsualOtherwise) {
  for (const char* no :
       {"", ",", ";", "*/*", "text/*", "application/json", "text/event-stream;q=0",
        "text/event-stream; q=0.0", "application/json,text/event-stream,application/problem+json",
        "application/json, text/event-stream;q=0.1", "text/event-streams", "x/text/event-stream"})
    EXPECT_FALSE(wants_events(no)) << no;
}

}  // namespace
}  // namespace sandgate::http
