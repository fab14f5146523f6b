#pragma once
#include <string>
#include <vector>

#include "gateway/cli/commands/commands.hpp"

namespace sandgate::cli {

// An id, of which the gateway's list of tenants is not asked.
inline constexpr char kTenant[] = "tn0123456789abcdefghijklmn";

// What one command line came to.
struct Told {
  int exit_code = 0;
  std::string output;
};

// Runs it in this process against the gateway at `url`, with the settings below `config_home`. Its
// output is not a terminal's: tabs, no header.
Told tell(const std::string& url, std::vector<const char*> arguments,
          OperatorKeyMaker make_operator_key = {}, const std::string& config_home = "/nonexistent");

// Likewise, with the output left where standard output leads. Returns the exit code.
int tell_uncaptured(const std::string& url, std::vector<const char*> arguments,
                    OperatorKeyMaker make_operator_key = {},
                    const std::string& config_home = "/nonexistent");

}  // namespace sandgate::cli
