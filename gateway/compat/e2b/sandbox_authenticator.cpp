#include "gateway/compat/e2b/sandbox_authenticator.hpp"

#include "gateway/compat/e2b/code_interpreter.hpp"
#include "gateway/compat/e2b/sandbox_address.hpp"

namespace sandgate::compat::e2b {
namespace {

bool removes_a_watcher(const http::Request& request) {
  return request.path == "/filesystem.Filesystem/RemoveWatcher";
}

bool is_about_contexts(const http::Request& request) {
  return is_code_path(request.path) && request.path != "/execute";
}

}  // namespace

bool SandboxAuthenticator::is_opened(const http::Request& request, const SandboxId& sandbox) const {
  const auto token = request.headers.find(kTokenHeader);
  if (token) return tokens_.verifies(sandbox, *token);
  const auto traffic = request.headers.find(kTrafficHeader);
  return traffic && is_about_contexts(request) && tokens_.verifies_traffic(sandbox, *traffic);
}

Task<http::Caller> SandboxAuthenticator::authenticate(const http::Request& request) {
  const auto address = sandbox_address(request, domain_);
  if (!address || !is_opened(request, address->sandbox))
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
