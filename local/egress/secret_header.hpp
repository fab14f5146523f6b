#pragma once
#include <string_view>

#include "gateway/core/secret.hpp"
#include "local/egress/http_head.hpp"
#include "local/egress/mask.hpp"
#include "providers/sandbox.hpp"

namespace sandgate::egress {

// Whether any of the secrets may go to this host.
bool has_grant_for(const SecretGrants& secrets, std::string_view host);

struct PlacedSecrets {
  Needles hidden;  // credentials made of values: an answer must not show them
  std::string_view wrong;  // why the request must not be sent on, else empty
};

// Puts values in the place of placeholders in a request to `host`: only in the header each grant
// names, also inside the Base64 of a Basic credential, and never in a TRACE or OPTIONS request.
// Everything else stays as it is. What looks like a placeholder there and is none for this host
// and header, and more of them than a request needs, are wrong.
PlacedSecrets put_secrets(RequestHead& head, std::string_view host, const SecretGrants& secrets);

}  // namespace sandgate::egress
