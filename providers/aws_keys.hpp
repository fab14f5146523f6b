#pragma once
#include <string>

#include "gateway/core/json_reader.hpp"
#include "providers/rest_api.hpp"

namespace sandgate {

// Of a user or a role of an AWS account.
struct AwsKeys {
  Secret access_key_id, secret_access_key;
  Secret session_token;  // empty: the keys are lasting ones
};

// credentials {access_key_id, secret_access_key, session_token}, the last one optional.
AwsKeys read_aws_keys(const Json& credentials, Problems& problems);

// An upstream of AWS whose calls the keys sign.
RestTarget aws_target(std::string provider, std::string base_url, const AwsKeys& keys,
                      const std::string& region, const std::string& service);

}  // namespace sandgate
