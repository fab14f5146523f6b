#include "gateway/cli/options/deployment_settings.hpp"

#include "gateway/cli/options/pairs.hpp"

namespace sandgate::cli {

DeploymentSettings::DeploymentSettings(const std::vector<std::string>& given)
    : texts_(pairs(given, "--setting")), values_(texts_) {
  for (Json& value : values_) {
    Json read = Json::parse(value.get_ref<const std::string&>(), nullptr, false);
    if (!read.is_discarded()) value = std::move(read);
  }
}

bool DeploymentSettings::take_as_texts(const Json& problem) {
  if (!problem.is_object()) return false;
  bool changed = false;
  for (const Json& field : problem.value("fields", Json::array())) {
    if (field.value("message", "") != "must be a string") continue;
    const std::string path = field.value("path", "");
    for (const auto& [name, text] : texts_.items()) {
      if (path != "/settings/" + name || values_[name].is_string()) continue;
      values_[name] = text;
      changed = true;
    }
  }
  return changed;
}

}  // namespace sandgate::cli
