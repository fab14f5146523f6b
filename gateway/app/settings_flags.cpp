#include "gateway/app/settings_flags.hpp"

#include <unistd.h>

#include <optional>

#include "gateway/core/json_reader.hpp"

namespace sandgate {
namespace {

std::map<std::string, std::string> environment_of_process() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    if (const size_t equals = text.find('='); equals != std::string::npos)
      variables[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return variables;
}

}  // namespace

SettingsFlags::SettingsFlags(CLI::App& command) {
  command.add_option("--config", file_,
                     "Settings file (docs/sandgate.example.yaml has all of them)");
  command.add_option("--set", settings_, "One setting, path=value; repeatable")
      ->allow_extra_args(false);
}

Config SettingsFlags::load(bool again) const {
  ConfigSources sources{file_, environment_of_process(), {}, again};
  Problems problems;
  for (const std::string& setting : settings_) {
    const size_t equals = setting.find('=');
    if (equals == std::string::npos)
      problems.add("/" + setting, "--set needs path=value");
    else
      sources.flags.emplace_back(setting.substr(0, equals), setting.substr(equals + 1));
  }
  std::optional<Config> config;
  try {
    config = load_config(sources);
  } catch (const Error& error) {
    if (error.fields.empty()) throw;
    for (const FieldProblem& field : error.fields) problems.add(field.path, field.message);
  }
  problems.throw_if_any();
  return std::move(*config);
}

}  // namespace sandgate
