#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "local/egress/http_head.hpp"
#include "providers/sandbox.hpp"

namespace sandgate::egress {

// Whether any of the secrets may go to this host.
bool has_grant_for(const SecretGrants& secrets, std::string_view host);

// Puts values in the place of placeholders in a request to `host`: only in the header each grant
// names, also inside the Base64 of a Basic credential, and never in a TRACE or OPTIONS request.
// Everything else stays as it is. Returns the grants that were used.
std::vector<const SecretGrant*> put_secrets(RequestHead& head, std::string_view host,
                                            const SecretGrants& secrets);

// Hides values in what an upstream answers, so that one that echoes its request tells nothing: each
// byte of a value becomes '*', so no length changes. Best effort: it sees literal values only.
class Mask {
 public:
  Mask() = default;  // hides nothing
  explicit Mask(const std::vector<const SecretGrant*>& grants);

  std::string pass(std::string_view bytes);  // may keep the end back
  std::string rest();  // what was kept back
  bool hides() const { return !values_.empty(); }

 private:
  std::vector<Secret> values_;
  std::string kept_;
};

}  // namespace sandgate::egress
