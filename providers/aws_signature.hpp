#pragma once
#include <ctime>

#include "providers/http_client.hpp"

namespace sandgate::aws {

// The fields that sign a call with Signature Version 4 at a moment: over its method, URL, body and
// all its fields, whose values have no blanks at their ends. A path is encoded once more than it
// is sent, as every service but S3 has it.
HttpFields signature_of(const AwsSigner& signer, const HttpCall& call, std::time_t now);

}  // namespace sandgate::aws
