#pragma once
#include <string>
#include <vector>

#include "gateway/core/json_reader.hpp"

namespace sandgate::cli {

// The settings of a deployment as a command line gives them, NAME=VALUE. A value is JSON where it
// reads as such, and otherwise a text.
class DeploymentSettings {
 public:
  // Throws CLI::ValidationError for what is not NAME=VALUE.
  explicit DeploymentSettings(const std::vector<std::string>& given);

  bool empty() const { return texts_.empty(); }
  const Json& values() const { return values_; }

  // Takes as texts, just as they were given, the values of which the problem document says that
  // they must be strings: "0012" may be a number or an account's name, and only the gateway knows.
  // Returns whether that changed anything.
  bool take_as_texts(const Json& problem);

 private:
  Json texts_, values_;
};

}  // namespace sandgate::cli
