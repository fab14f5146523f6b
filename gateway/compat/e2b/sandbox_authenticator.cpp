#include "gateway/compat/e2b/sandbox_authenticator.hpp"

#include "gateway/compat/e2b/sandbox_address.hpp"

namespace sandgate::compat::e2b {
namespace {

bool removes_a_watcher(const http::Request& request) {
  return request.path == "/filesystem.Filesystem/RemoveWatcher";
}

}  // namespace

Task<http::Caller> SandboxAuthenticator::authenticate(const http::Request& request) {
  const auto address = sandbox_address(request, domain_);
  const auto token = request.headers.find(kTokenHeader);
  if (!address || !token || !tokens_.verifies(address->sandbox, *token))
    throw Error(ErrorCode::unauthenticated, "send the sandbox's id and its access token");
  const auto known = co_await sandboxes_.find(address->sandbox);
  if (!known) throw wrong_state(SandboxState::stopped);
  const SandboxRecord& record = known->record;
  if (is_ended(record.state) && !removes_a_watcher(request)) throw wrong_state(record);
  http::Caller caller{.role = http::Role::developer, .tenant = record.tenant};
  caller.sandbox = record.id;
  caller.suspended = co_await tenants_.is_suspended(record.tenant);
  co_return caller;
}

}  // namespace sandgate::compat::e2b
