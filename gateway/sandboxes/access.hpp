#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "gateway/core/ids.hpp"
#include "gateway/http/caller.hpp"
#include "providers/provider.hpp"

namespace sandgate {

class SandboxAccess;

// A running sandbox that the caller may use, with the backend that holds it.
struct OpenSandbox {
  SandboxAccess* access = nullptr;  // that opened it
  SandboxId id;
  TenantId tenant;
  std::shared_ptr<Provider> provider;  // keeps a replaced deployment's backend alive
  std::string backend_id;
  // While this handle lives, the idle timeout does not run.
  std::shared_ptr<void> activity;
  bool can_pause = false;  // its backend can
};

// How exec, files and ports reach a sandbox, independent of its storage and placement.
class SandboxAccess {
 public:
  virtual ~SandboxAccess() = default;

  // Throws not_found (unknown or another tenant's), forbidden (suspended tenant; Verb::exec only),
  // conflict (not running; a paused sandbox is first resumed when its profile sets auto_resume and
  // the caller may use sandboxes), unsupported (the backend does not declare the verb), unavailable
  // (the backend's capabilities are not known yet).
  virtual Task<OpenSandbox> open(const http::Caller& caller, std::string_view id, Verb verb) = 0;

  // The error to report for a failed call on a sandbox: a broken connection or a missing object
  // becomes the conflict that open() would throw when the sandbox has ended or was paused. Any
  // other failure is returned unchanged.
  virtual Task<Error> translate_failure(TenantId tenant, SandboxId id, Error failure) = 0;

  // Whether the sandbox is paused, as far as that is known. Cheap enough to ask every second;
  // throws nothing.
  virtual Task<bool> is_paused(TenantId tenant, SandboxId id) = 0;

  // Handles a backend's report that it does not know the sandbox: records its end or its loss, and
  // closes its meter.
  virtual Task<void> report_gone(SandboxId id, std::string detail) = 0;
};

// As the member; a free function, as for a Lifecycle (failure_translation.hpp).
inline Task<Error> translate_failure(SandboxAccess& access, TenantId tenant, SandboxId id,
                                     Error failure) {
  return access.translate_failure(std::move(tenant), std::move(id), std::move(failure));
}

// Whether the error says that the sandbox has ended, rather than that it is paused.
inline bool says_ended(const Error& error) {
  const auto state = error.details.find("state");
  return error.code == ErrorCode::conflict && state != error.details.end() &&
         (*state == "stopping" || *state == "stopped" || *state == "failed");
}

// Awaits a call on an open sandbox. Throws the error that translate_failure() returns for a
// failure.
template <class T>
Task<T> translate_failures(const OpenSandbox& box, Task<T> call) {
  auto outcome = co_await attempt(std::move(call));
  if (auto* failure = std::get_if<Error>(&outcome)) {
    auto translating = box.access->translate_failure(box.tenant, box.id, std::move(*failure));
    const Error told = co_await std::move(translating);
    throw told;
  }
  co_return std::get<0>(std::move(outcome));
}

// The next event of a process. Throws as translate_failures(), and Error(unavailable) when the
// output ends before the process.
inline Task<ProcessEvent> next_event(const OpenSandbox& box, ProcessStream& process) {
  auto waiting = [](ProcessStream& of) -> Task<ProcessEvent> {
    auto event = co_await of.next();
    if (!event) throw ended_without_exit();
    co_return std::move(*event);
  };
  return translate_failures(box, waiting(process));
}

}  // namespace sandgate
