#include "tests/cli/told.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace sandgate::cli {

int tell_uncaptured(const std::string& url, std::vector<const char*> arguments,
                    OperatorKeyMaker make_operator_key, const std::string& config_home) {
  setenv("SANDGATE_URL", url.c_str(), 1);
  setenv("SANDGATE_API_KEY", "sg_test", 1);
  setenv("XDG_CONFIG_HOME", config_home.c_str(), 1);
  arguments.insert(arguments.begin(), "sandgate");
  CLI::App app{"Sandgate", "sandgate"};
  ExitCode exit_code = 0;
  add_client_commands(app, exit_code, std::move(make_operator_key));
  return run_command_line(app, static_cast<int>(arguments.size()), arguments.data(), exit_code);
}

Told tell(const std::string& url, std::vector<const char*> arguments,
          OperatorKeyMaker make_operator_key, const std::string& config_home) {
  Told told;
  testing::internal::CaptureStdout();
  told.exit_code =
      tell_uncaptured(url, std::move(arguments), std::move(make_operator_key), config_home);
  told.output = testing::internal::GetCapturedStdout();
  return told;
}

}  // namespace sandgate::cli
