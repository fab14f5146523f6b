#include "gateway/http/authentication.hpp"

#include "gateway/core/crypto.hpp"
#include "gateway/core/field_text.hpp"
#include "registry/api_secret.hpp"

namespace sandgate::http {
namespace {

constexpr size_t kMaxSecretBytes = 512;

Error unauthenticated(const char* message) { return Error(ErrorCode::unauthenticated, message); }

// Whether two texts are spellings of one key, as clients of other APIs write them.
bool are_one_key(std::string_view a, std::string_view b) {
  if (a == b) return true;
  const auto first = api_secret_hash(a), second = api_secret_hash(b);
  return first && second && *first == *second;
}

std::string secret_of(const Request& request) {
  std::string_view secret;
  const std::string_view key = trimmed(request.headers.find("X-API-Key").value_or(""));
  if (const auto authorization = request.headers.find("Authorization")) {
    const size_t space = std::min(authorization->find(' '), authorization->size());
    if (!equal_ignoring_case(authorization->substr(0, space), "Bearer"))
      throw unauthenticated("the Authorization header must say \"Bearer <API key>\"");
    secret = trimmed(authorization->substr(space));
    if (!key.empty() && !are_one_key(secret, key))
      throw unauthenticated("Authorization and X-API-Key say different keys: send one of them");
  } else {
    secret = key;
  }
  if (secret.empty())
    throw unauthenticated("send an API key as \"Authorization: Bearer\" or \"X-API-Key\"");
  if (secret.size() > kMaxSecretBytes) throw unauthenticated("this is not an API key");
  return std::string(secret);
}

std::optional<std::string> tenant_header(const Request& request) {
  const auto header = request.headers.find("X-Sandgate-Tenant");
  if (!header) return std::nullopt;
  return std::string(trimmed(*header));
}

// Sets the tenant that the caller acts for. Throws Error(not_found) if that is not allowed.
void choose_tenant(Caller& caller, const std::optional<std::string>& wanted) {
  if (!wanted) return;
  const auto id = TenantId::parse(*wanted);
  const bool allowed = caller.is_operator() || caller.tenant == id;
  // Only a well-formed id is repeated in the message; other text is untrusted input.
  if (!id || !allowed) throw Error::not_found("tenant", id ? id->value : "");
  caller.tenant = id;
}

void apply_tenant(Caller& caller, const Tenant* tenant) {
  if (!tenant) throw Error::not_found("tenant", caller.tenant->value);
  caller.suspended = tenant->suspended;
}

}  // namespace

KeyAuthenticator::KeyAuthenticator(KeyStore& keys, TenantDirectory& tenants, const Clock& clock,
                                   const Secret& operator_secret, Notifications& notifications,
                                   Cache::Options options)
    : tenants_(tenants),
      clock_(clock),
      operator_hash_(operator_secret.empty() ? "" : operator_secret_hash(operator_secret.reveal())),
      keys_(options, [&keys](std::string hash) { return keys.find_by_hash(std::move(hash)); }) {
  keys.on_change([this](const std::string& hash) { keys_.expire(hash); });
  notifications.subscribe(kKeysChannel, [this](const std::string& hash) {
    hash.empty() ? keys_.expire_all() : keys_.expire(hash);
  });
}

std::optional<Caller> KeyAuthenticator::environment_operator(const std::string& secret) const {
  if (operator_hash_.empty() ||
      !equal_in_constant_time(operator_secret_hash(secret), operator_hash_))
    return std::nullopt;
  return Caller{.role = Role::operator_, .key_name = "environment"};
}

Caller KeyAuthenticator::caller_from(const KeyGrant* grant) const {
  if (!grant) throw unauthenticated("this API key is not valid");
  const Time now = clock_.now();
  const bool over = (grant->key.expires_at && now >= *grant->key.expires_at) ||
                    (grant->secret_valid_until && now >= *grant->secret_valid_until);
  if (over) throw unauthenticated("this API key has expired");
  return {.role = grant->key.role,
          .tenant = grant->key.tenant,
          .key_id = grant->key.id.value,
          .key_name = grant->key.name};
}

Task<Caller> KeyAuthenticator::authenticate(const Request& request) {
  auto checking = authenticate_secret(secret_of(request), tenant_header(request));
  co_return co_await std::move(checking);
}

Task<Caller> KeyAuthenticator::authenticate_secret(std::string secret,
                                                   std::optional<std::string> tenant) {
  std::optional<Caller> caller = environment_operator(secret);
  if (!caller) {
    const auto hash = api_secret_hash(secret);
    if (!hash) throw unauthenticated("this is not an API key");
    auto grant = keys_.peek(*hash);
    if (!grant) {
      auto looking = keys_.get(*hash);
      grant = co_await std::move(looking);
    }
    caller = caller_from(grant->get());
  }
  choose_tenant(*caller, tenant);
  if (!caller->tenant) co_return std::move(*caller);
  auto known = tenants_.peek(*caller->tenant);
  if (!known) {
    auto looking = tenants_.find(*caller->tenant);
    known = co_await std::move(looking);
  }
  apply_tenant(*caller, known->get());
  co_return std::move(*caller);
}

}  // namespace sandgate::http
