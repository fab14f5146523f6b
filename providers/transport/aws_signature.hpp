#pragma once
#include <ctime>

#include "providers/transport/http_client.hpp"

namespace sandgate::aws {

// Returns the header fields that sign a call with Signature Version 4 at time `now`. The signature
// covers method, URL, body and all fields, whose values must not begin or end with blanks. It
// covers the path encoded once more than it is sent, as all services but S3 require.
HttpFields signature_of(const AwsSigner& signer, const HttpCall& call, std::time_t now);

}  // namespace sandgate::aws
