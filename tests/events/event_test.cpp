#include "gateway/events/event.hpp"

#include <gtest/gtest.h>

#include "gateway/events/webhook.hpp"

namespace sandgate {
namespace {

TEST(Event, IsACloudEvent) {
  const Event event{.position = 7,
                    .id = "ev1",
                    .tenant = TenantId{"tn1"},
                    .type = "sandbox.running",
                    .subject = "sandboxes/sb1",
                    .at = from_micros(1'700'000'000'000'000),
                    .data = {{"sandbox", "sb1"}}};
  EXPECT_EQ(to_json(event), Json::parse(R"({"specversion":"1.0","id":"ev1",
    "source":"/v1/tenants/tn1","type":"sandbox.running","subject":"sandboxes/sb1",
    "time":"2023-11-14T22:13:20Z","datacontenttype":"application/json",
    "data":{"sandbox":"sb1"}})"));
  EXPECT_EQ(to_json(Event{}).at("source"), "/v1");
}

TEST(Event, FiltersMustMeanSomething) {
  for (const char* good : {"*", "sandbox.*", "sandbox.created", "budget.alert", "deployment.o*"})
    EXPECT_TRUE(is_event_filter(good)) << good;
  for (const char* bad : {"", "sandbox", "sandbox.unknown", "box.*", "*.created", "sandbox.**"})
    EXPECT_FALSE(is_event_filter(bad)) << bad;
}

TEST(WebhookBackoff, DoublesUpToAnHourWithJitter) {
  using std::chrono::milliseconds;
  EXPECT_EQ(webhook_backoff(1, 0), milliseconds(500));
  EXPECT_EQ(webhook_backoff(1, 255), milliseconds(1500));
  EXPECT_EQ(webhook_backoff(4, 0), milliseconds(4000));
  EXPECT_EQ(webhook_backoff(13, 255), milliseconds(5'400'000));
  EXPECT_EQ(webhook_backoff(1'000'000, 0), milliseconds(1'800'000));
  milliseconds day{0};
  int tries = 0;
  while (day < std::chrono::hours(24)) day += webhook_backoff(++tries, 128);
  EXPECT_GT(tries, 20);
  EXPECT_LT(tries, 60);
}

TEST(WebhookUrl, IsPublicHttp) {
  for (const char* good : {"https://example.com/", "http://8.8.8.8:81/x?y=1", "https://a.b"})
    EXPECT_EQ(webhook_url_problem(good, false), "") << good;
  for (const char* bad :
       {"example.com", "ftp://example.com/", "file:///etc/passwd", "https://u:p@example.com/",
        "https://u@example.com/", "https://example.com/#x", "https:///x", "gopher://example.com",
        "http://exa mple.com", "http://a.b:0/", "http://a.b:65536/", "http://a.b:99999/"})
    EXPECT_NE(webhook_url_problem(bad, true), "") << bad;
  for (const char* inside :
       {"http://127.0.0.1/", "http://localhost:1/", "http://a.localhost/", "http://10.1.2.3/",
        "http://192.168.1.1/", "http://172.16.0.1/", "http://169.254.169.254/latest",
        "http://100.64.0.1/", "http://[::1]/", "http://[fd00::1]/", "http://[fe80::1]/",
        "http://[::ffff:127.0.0.1]/", "http://0.0.0.0/"}) {
    EXPECT_NE(webhook_url_problem(inside, false), "") << inside;
    EXPECT_EQ(webhook_url_problem(inside, true), "") << inside;
  }
}

}  // namespace
}  // namespace sandgate
