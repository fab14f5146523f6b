#include "gateway/cli/options/help_text.hpp"

#include <memory>
#include <sstream>

#include "gateway/cli/terminal/console.hpp"

namespace sandgate::cli {
namespace {

constexpr size_t kMaxColumns = 100;
constexpr size_t kDescriptions = 30;  // the column at which CLI11 begins them

// The space at which a line is broken: the last that fits, or else the first; npos: there is none.
size_t break_of(const std::string& line, size_t indent) {
  size_t found = std::string::npos;
  for (size_t at = line.find(' ', indent); at != std::string::npos; at = line.find(' ', at + 1)) {
    if (width_of(line.substr(0, at)) > kMaxColumns && found != std::string::npos) break;
    found = at;
  }
  return found;
}

struct FittingFormatter : CLI::Formatter {
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    return fitted(CLI::Formatter::make_help(app, std::move(name), mode));
  }
};

void use(CLI::App& app, const std::shared_ptr<CLI::FormatterBase>& formatter) {
  app.formatter(formatter);
  for (CLI::App* command : app.get_subcommands({})) use(*command, formatter);
}

}  // namespace

std::string fitted(const std::string& help) {
  std::string text;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line); text += line + '\n') {
    const size_t indent = line.starts_with("  ") ? kDescriptions : 0;
    while (width_of(line) > kMaxColumns) {
      const size_t at = break_of(line, indent);
      if (at == std::string::npos) break;
      text += line.substr(0, at) + '\n';
      line = std::string(indent, ' ') + line.substr(at + 1);
    }
  }
  return text;
}

void fit_help(CLI::App& app) { use(app, std::make_shared<FittingFormatter>()); }

}  // namespace sandgate::cli
