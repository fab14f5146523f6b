#include "gateway/cli/options/pairs.hpp"

#include <CLI/CLI.hpp>

namespace sandgate::cli {

Json pairs(const std::vector<std::string>& texts, const std::string& what) {
  Json map = Json::object();
  for (const std::string& text : texts) {
    const size_t sign = text.find('=');
    if (sign == std::string::npos || sign == 0)
      throw CLI::ValidationError(what, "wants NAME=VALUE, not '" + text + "'");
    map[text.substr(0, sign)] = text.substr(sign + 1);
  }
  return map;
}

}  // namespace sandgate::cli
