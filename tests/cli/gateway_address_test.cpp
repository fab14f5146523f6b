#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "gateway/cli/context.hpp"
#include "gateway/core/error.hpp"

namespace sandgate::cli {
namespace {

// What a command says that connects with these variables.
std::string said_with(const std::map<std::string, std::string>& variables,
                      bool for_operator = false) {
  std::ostringstream out, err;
  ExitCode exit_code = 0;
  const auto environment = [&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
  const auto context =
      std::make_shared<Context>(environment, Console(out, err, false, false), exit_code);
  CLI::App app;
  CLI::App& connect = *app.add_subcommand("connect");
  const auto work = [&] { context->client(); };
  for_operator ? context->on_operator(connect, work) : context->on(connect, work);
  app.parse("connect");
  EXPECT_EQ(exit_code, err.str().empty() ? 0 : 1);
  return err.str();
}

TEST(GatewayAddress, OfTheEnvironmentIsCheckedBeforeItIsUsed) {
  EXPECT_EQ(said_with({{"SANDGATE_URL", "http://a/"}, {"SANDGATE_API_KEY", "sg_1"}}), "");
  const std::string said =
      said_with({{"SANDGATE_URL", "http://a/v1/"}, {"SANDGATE_API_KEY", "sg_1"}});
  EXPECT_TRUE(said.ends_with("is without /v1: give http://a\n")) << said;
}

TEST(GatewayAddress, WithAnEmptyKeyIsNoPlaceForTheKeyOfTheFile) {
  const std::string said = said_with({{"SANDGATE_API_KEY", ""}, {"XDG_CONFIG_HOME", "/none"}});
  EXPECT_EQ(said,
            "sandgate: no API key: SANDGATE_API_KEY is set but empty, which goes before"
            " /none/sandgate/config.yaml: set it to a key, or unset it\n");
  EXPECT_EQ(said_with({{"XDG_CONFIG_HOME", "/none"}}).find("empty"), std::string::npos);
}

TEST(GatewayAddress, WithoutAKeySaysWhichOneTheCommandTakes) {
  EXPECT_EQ(said_with({{"XDG_CONFIG_HOME", "/none"}}),
            "sandgate: no API key: set SANDGATE_API_KEY, or api_key in "
            "/none/sandgate/config.yaml\n");
  EXPECT_EQ(said_with({{"XDG_CONFIG_HOME", "/none"}}, /*for_operator=*/true),
            "sandgate: no operator's key: set SANDGATE_ADMIN_KEY, or admin_key in "
            "/none/sandgate/config.yaml\n");
}

TEST(GatewayAddress, IsWithoutTheSlashAtItsEnd) {
  EXPECT_EQ(gateway_address("https://gate.example.com//"), "https://gate.example.com");
  EXPECT_EQ(gateway_address("https://example.com/gate/"), "https://example.com/gate");
  EXPECT_EQ(gateway_address("127.0.0.1:8080"), "127.0.0.1:8080");
}

TEST(GatewayAddress, SaysWhatIsWrongWithIt) {
  const auto complaint = [](const std::string& url) -> std::string {
    try {
      return "taken: " + gateway_address(url);
    } catch (const Error& error) {
      return error.what();
    }
  };
  for (const char* url : {"https://gate.example.com/v1", "https://gate.example.com/v1//"})
    EXPECT_TRUE(complaint(url).ends_with("is without /v1: give https://gate.example.com"))
        << complaint(url);
  for (const char* url : {"https://", "/", "http:"})
    EXPECT_NE(complaint(url).find("names no host"), std::string::npos) << complaint(url);
}

}  // namespace
}  // namespace sandgate::cli
