#include "gateway/cli/options/amount.hpp"

#include <algorithm>
#include <string_view>

namespace sandgate::cli {
namespace {

bool are_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::string amount_problem(const std::string& text) {
  const size_t point = text.find('.');
  const bool well =
      are_digits(std::string_view(text).substr(0, point)) &&
      (point == std::string::npos || are_digits(std::string_view(text).substr(point + 1)));
  return well ? "" : "must be an amount such as 12.50, not '" + text + "'";
}

}  // namespace

CLI::Option* add_amount(CLI::App& command, const std::string& name, std::string& amount,
                        const std::string& description) {
  return command.add_option(name, amount, description)->check(amount_problem);
}

}  // namespace sandgate::cli
