#pragma once
#include <string>

#include <CLI/CLI.hpp>

namespace sandgate::cli {

// Makes --help of this command and of all below it fit a terminal of 100 columns.
void fit_help(CLI::App& app);

// Breaks lines at spaces so that none is over 100 columns wide, where its words allow that. What
// goes on is indented as the descriptions of options are.
std::string fitted(const std::string& help);

}  // namespace sandgate::cli
