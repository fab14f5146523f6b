#include "providers/vercel.hpp"

#include <gtest/gtest.h>

#include "gateway/core/settle.hpp"
#include "tests/support/live_loop.hpp"
#include "tests/vendors/one_answer.hpp"

namespace sandgate::test {
namespace {

// What a terminal says of its address when an API at `api_url` names `terminal`.
std::string refusal(std::string api_url, std::string terminal) {
  LiveLoop loop;
  OneAnswer client;
  client.document = {
      {"sandbox", {{"name", "sb1"}, {"status", "running"}, {"currentSessionId", "sbx_1"}}},
      {"session", {{"id", "sbx_1"}, {"cwd", "/home"}}},
      {"url", std::move(terminal)},
      {"token", "secret"}};
  VercelSettings settings;
  settings.api_url = std::move(api_url);
  const auto provider =
      std::make_shared<VercelProvider>(client, loop.executor(), std::move(settings));
  const auto outcome = loop.run(attempt(provider->exec("sb1", {.pty = PtySize{}})));
  return std::get<Error>(outcome).what();
}

TEST(VercelTerminal, NothingGoesOutInTheClear) {
  const std::string not_told = not_its_api("vercel").what();
  const std::string safe = "https://api.vercel.com", local = "http://127.0.0.1:1";
  EXPECT_EQ(refusal(safe, "ws://127.0.0.1:1/tty"), not_told);
  EXPECT_EQ(refusal(safe, ""), not_told);
  EXPECT_NE(refusal(safe, "wss://127.0.0.1:1/tty"), not_told);
  EXPECT_NE(refusal(local, "ws://127.0.0.1:1/tty"), not_told) << "neither does the API";
}

}  // namespace
}  // namespace sandgate::test
