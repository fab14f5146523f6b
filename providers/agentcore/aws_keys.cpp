#include "providers/agentcore/aws_keys.hpp"

#include "providers/kind_settings.hpp"

namespace sandgate {

AwsKeys read_aws_keys(const Json& credentials, Problems& problems) {
  AwsKeys keys;
  ObjectReader reader(credentials, problems, "/credentials");
  keys.access_key_id = read_credential(reader, "access_key_id");
  keys.secret_access_key = read_credential(reader, "secret_access_key");
  if (reader.has("session_token")) keys.session_token = read_credential(reader, "session_token");
  reader.finish();
  return keys;
}

RestTarget aws_target(std::string provider, std::string base_url, const AwsKeys& keys,
                      const std::string& region, const std::string& service) {
  RestTarget target{.provider = std::move(provider), .base_url = std::move(base_url)};
  if (!keys.session_token.empty())
    target.headers = {{"X-Amz-Security-Token", keys.session_token.reveal()}};
  target.signer = std::make_shared<AwsSigner>(
      AwsSigner{region, service, keys.access_key_id, keys.secret_access_key});
  return target;
}

}  // namespace sandgate
