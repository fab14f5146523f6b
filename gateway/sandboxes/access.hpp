#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "gateway/core/ids.hpp"
#include "gateway/http/message.hpp"
#include "providers/provider.hpp"

namespace sandgate {

// A running sandbox of the caller's, with the backend that holds it.
struct OpenSandbox {
  SandboxId id;
  TenantId tenant;
  std::shared_ptr<Provider> provider;  // keeps a deployment that is being replaced alive
  std::string backend_id;
  // While this lives the sandbox counts as active: its idle timeout does not run.
  std::shared_ptr<void> activity;
};

// How exec, files and ports reach a sandbox without knowing how it is stored or placed.
class SandboxAccess {
 public:
  virtual ~SandboxAccess() = default;

  // Throws not_found (unknown, ended or another tenant's), forbidden (suspended tenant, exec only),
  // conflict (not running; a paused one is resumed first when its profile says auto_resume) and
  // unsupported (the backend does not declare the verb), unavailable (it has not told yet).
  virtual Task<OpenSandbox> open(const http::Caller& caller, std::string_view id, Verb verb) = 0;

  // The backend says that it does not know the sandbox any more: marks it failed, ends its meter.
  virtual Task<void> report_gone(SandboxId id, std::string detail) = 0;
};

}  // namespace sandgate
