#pragma once
#include <string_view>
#include <vector>

#include "gateway/core/secret.hpp"
#include "local/egress/http_head.hpp"
#include "providers/sandbox.hpp"

namespace sandgate::egress {

// Whether any of the secrets may go to this host.
bool has_grant_for(const SecretGrants& secrets, std::string_view host);

// Puts values in the place of placeholders in a request to `host`: only in the header each grant
// names, also inside the Base64 of a Basic credential, and never in a TRACE or OPTIONS request.
// Everything else stays as it is. Returns what an answer of the host must not show: the values it
// may know, of this request or an earlier one, and the credentials made of them.
std::vector<Secret> put_secrets(RequestHead& head, std::string_view host,
                                const SecretGrants& secrets);

}  // namespace sandgate::egress
