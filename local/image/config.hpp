#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "gateway/core/json_reader.hpp"

namespace sandgate {

// How an image's programs run: their account, environment and working directory.
struct ImageConfig {
  std::string user = "user", home = "/home/user";
  uint32_t uid = 1000, gid = 1000;
  std::map<std::string, std::string> env;
  std::string workdir;  // where commands start; empty: home

  auto operator<=>(const ImageConfig&) const = default;
};

Json to_json(const ImageConfig& config);
ImageConfig image_config_from(const Json& json);  // throws Json::exception

}  // namespace sandgate
