#pragma once
#include <string>

#include "gateway/core/json_reader.hpp"
#include "providers/transport/rest_api.hpp"

namespace sandgate {

// Keys of a user or a role of an AWS account.
struct AwsKeys {
  Secret access_key_id, secret_access_key;
  Secret session_token;  // empty: long-term keys
};

// Reads credentials {access_key_id, secret_access_key, session_token}; the last is optional.
AwsKeys read_aws_keys(const Json& credentials, Problems& problems);

// The target of an AWS service, whose calls are signed with the keys.
RestTarget aws_target(std::string provider, std::string base_url, const AwsKeys& keys,
                      const std::string& region, const std::string& service);

}  // namespace sandgate
