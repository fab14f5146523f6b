#include "gateway/http/idempotency.hpp"

#include <algorithm>
#include <iterator>

#include "gateway/core/crypto.hpp"
#include "gateway/core/field_text.hpp"

namespace sandgate::http {
namespace {

constexpr std::string_view kHeader = "Idempotency-Key";
constexpr size_t kMaxKey = 255;
constexpr size_t kLongestPath = 255;  // longer paths are hashed because the column is indexed

// Roles share no answers: another role may not be allowed what was answered, or its secret.
std::string scope_of(const Caller& caller) {
  const std::string owner = caller.tenant ? caller.tenant->value + "/" : "";
  return owner + std::string(to_string(caller.role));
}

}  // namespace

void check_idempotency_key(const Request& request) {
  const auto key = request.headers.find(kHeader);
  if (key && (key->empty() || key->size() > kMaxKey || !is_visible_ascii(*key)))
    throw Error::invalid("/" + std::string(kHeader), "must be 1 to 255 visible ASCII characters");
}

std::optional<IdempotentCall> idempotent_call(const Request& request) {
  check_idempotency_key(request);
  const auto key = request.headers.find(kHeader);
  if (!key) return std::nullopt;
  // The hash covers the query, but not the Content-Type.
  const std::string asked = request.target + "\n" + request.body;
  const std::string& path = request.path;
  return IdempotentCall{
      .scope = scope_of(request.caller),
      .operation = std::string(to_string(request.method)) + " " +
                   (path.size() <= kLongestPath ? path : sha256_hex(path)),
      .key = std::string(*key),
      .body_hash = sha256_hex(asked),
  };
}

bool may_be_replayed(int status) {
  constexpr int kPass[] = {401, 402, 403, 409, 429};
  return status < 500 && std::ranges::find(kPass, status) == std::end(kPass);
}

}  // namespace sandgate::http
