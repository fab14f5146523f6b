#include "local/image/config.hpp"

namespace sandgate {

Json to_json(const ImageConfig& config) {
  return {{"user", config.user}, {"home", config.home}, {"uid", config.uid},
          {"gid", config.gid},   {"env", config.env},   {"workdir", config.workdir}};
}

ImageConfig image_config_from(const Json& json) {
  ImageConfig config;
  json.at("user").get_to(config.user);
  json.at("home").get_to(config.home);
  json.at("uid").get_to(config.uid);
  json.at("gid").get_to(config.gid);
  json.at("env").get_to(config.env);
  config.workdir = json.value("workdir", "");
  return config;
}

}  // namespace sandgate
