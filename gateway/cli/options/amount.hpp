#pragma once
#include <string>

#include <CLI/CLI.hpp>

namespace sandgate::cli {

// Adds an option or a value without a name that takes an amount of money, such as 12.50. Other
// texts are wrong usage, told in the command line's words: the API's are about JSON.
CLI::Option* add_amount(CLI::App& command, const std::string& name, std::string& amount,
                        const std::string& description);

}  // namespace sandgate::cli
