#include "gateway/api/keys.hpp"

#include "gateway/api/audit.hpp"
#include "gateway/api/page.hpp"
#include "gateway/api/path_id.hpp"
#include "gateway/api/tenant_scope.hpp"
#include "gateway/core/document_reader.hpp"
#include "gateway/core/moment.hpp"

namespace sandgate::api {
namespace {

constexpr int64_t kMaxGraceSeconds = 90 * 24 * 3600;

struct KeyDraft {
  std::optional<std::string> tenant;
  std::string name;
  Role role = Role::viewer;
  std::optional<Time> expires_at;
};

KeyDraft draft_from(const Json& body, Time now) {
  DocumentReader reader(body);
  KeyDraft draft;
  for (const auto* name : {"name", "role"}) reader.require(name);
  draft.tenant = reader.text("tenant", {.min = 1, .max = 64});
  draft.name = reader.text("name", kGivenName).value_or("");
  draft.role = reader.word("role", kRoleWords).value_or(draft.role);
  draft.expires_at = read_moment(reader, "expires_at");
  if (draft.expires_at && *draft.expires_at <= now)
    reader.problem("expires_at", "must be in the future");
  reader.finish_or_throw();
  return draft;
}

void require_grant(const http::Caller& caller, Role role) {
  if (may_grant(caller.role, role)) return;
  throw Error(ErrorCode::forbidden,
              "a key of role '" + std::string(to_string(role)) + "' may do more than yours");
}

// The tenant that will own the key; empty for an operator's key.
std::optional<TenantId> owner_of(const KeyDraft& draft, const http::Caller& caller) {
  if (draft.role == Role::operator_) {
    const char* none = "an operator's key belongs to no tenant";
    if (draft.tenant) throw Error::invalid("/tenant", none);
    if (caller.tenant) throw Error::invalid("/X-Sandgate-Tenant", none);
    return std::nullopt;
  }
  if (!draft.tenant) {
    if (!caller.tenant) throw Error::invalid("/tenant", "is required");
    return caller.tenant;
  }
  const auto id = TenantId::parse(*draft.tenant);
  const bool reachable = caller.tenant ? caller.tenant == id : caller.is_operator();
  if (!id || !reachable) throw Error::not_found("tenant", id ? id->value : "");
  return id;
}

Json with_secret(const NewApiKey& made) {
  Json body = to_json(made.key);
  body["secret"] = made.secret.reveal();
  return body;
}

// The secret is shown once and must not be cached on the way.
http::Response secret_response(int status, const Json& body) {
  http::Response response = http::Response::json(status, body);
  response.headers.emplace_back("Cache-Control", "no-store");
  return response;
}

Json key_json(const ApiKey& key) { return to_json(key); }

}  // namespace

void KeyHandlers::add_routes(http::Routes& routes) {
  using http::Method;
  const auto add = [&](Method method, const char* pattern, http::BodyMode body, auto handler) {
    const bool tells_secret = method == Method::post;
    routes.add({.method = method,
                .pattern = pattern,
                .permission = http::Permission::administer_tenant,
                .body = body,
                .handler = std::bind_front(handler, this),
                .idempotent_create = tells_secret,
                .secret_answer = tells_secret});
  };
  add(Method::post, "/v1/keys", http::BodyMode::buffered, &KeyHandlers::create);
  add(Method::get, "/v1/keys", http::BodyMode::none, &KeyHandlers::list);
  add(Method::post, "/v1/keys/{id}/rotate", http::BodyMode::buffered, &KeyHandlers::rotate);
  add(Method::delete_, "/v1/keys/{id}", http::BodyMode::none, &KeyHandlers::revoke);
}

Task<http::Response> KeyHandlers::create(http::Request& request) {
  const KeyDraft draft = draft_from(request.json(), clock_.now());
  require_grant(request.caller, draft.role);
  auto creating = keys_.create(owner_of(draft, request.caller), draft.name, draft.role,
                               draft.expires_at, actor_of(request));
  const NewApiKey made = co_await std::move(creating);
  co_return secret_response(201, with_secret(made));
}

Task<http::Response> KeyHandlers::list(http::Request& request) {
  const PageRequest page = read_page(request, 2, {"tenant"});
  std::optional<std::pair<Time, std::string>> after;
  if (!page.after.empty()) after = {page.time_after(0), page.after[1]};
  auto reading = keys_.list(tenant_parameter(request), std::move(after), page.rows_to_fetch());
  const auto rows = co_await std::move(reading);
  const auto key = [](const ApiKey& row) {
    return std::vector{to_rfc3339(row.created_at), row.id.value};
  };
  co_return http::Response::json(200, page_json(page, rows, key_json, key));
}

Task<ApiKey> KeyHandlers::changeable(const http::Request& request) {
  const auto id = path_id<KeyId>(request, "key");
  auto finding = keys_.find(id);
  const auto key = co_await std::move(finding);
  const http::Caller& caller = request.caller;
  const bool visible = key && (caller.tenant ? key->tenant == caller.tenant : caller.is_operator());
  if (!visible) throw Error::not_found("key", id.value);
  require_grant(caller, key->role);
  co_return *key;
}

Task<http::Response> KeyHandlers::rotate(http::Request& request) {
  const Json body = request.json_or_empty();
  DocumentReader reader(body);
  const int64_t grace = reader.integer("grace_seconds", 0, kMaxGraceSeconds).value_or(0);
  reader.finish_or_throw();
  const ApiKey key = co_await changeable(request);
  auto rotating = keys_.rotate(key.id, std::chrono::seconds(grace), actor_of(request));
  const NewApiKey made = co_await std::move(rotating);
  co_return secret_response(200, with_secret(made));
}

Task<http::Response> KeyHandlers::revoke(http::Request& request) {
  const ApiKey key = co_await changeable(request);
  auto revoking = keys_.revoke(key.id, actor_of(request));
  co_await std::move(revoking);
  co_return http::Response::empty(204);
}

}  // namespace sandgate::api
