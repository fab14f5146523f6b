#pragma once
#include <string_view>

#include "gateway/core/secret.hpp"
#include "local/egress/http_head.hpp"
#include "local/egress/redactor.hpp"
#include "providers/sandbox.hpp"

namespace sandgate::egress {

// Whether any secret is granted for this host.
bool has_grant_for(const SecretGrants& secrets, std::string_view host);

struct SubstitutedSecrets {
  Needles hidden;  // Basic credentials that contain values, to be masked in the response
  std::string_view wrong;  // why the request must not be forwarded; empty when it may
};

// Replaces placeholders by secret values in a request to `host`: only in the header that each grant
// names, also inside the Base64 of a Basic credential, and never in a TRACE, TRACK or OPTIONS
// request. A placeholder there that has no grant for this host and header, and more than 8
// placeholders in a request, are wrong.
SubstitutedSecrets substitute_secrets(RequestHead& head, std::string_view host,
                                      const SecretGrants& secrets);

}  // namespace sandgate::egress
