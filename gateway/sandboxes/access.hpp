#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "gateway/core/ids.hpp"
#include "gateway/http/caller.hpp"
#include "providers/provider.hpp"

namespace sandgate {

class SandboxAccess;

// A running sandbox of the caller's, with the backend that holds it.
struct OpenSandbox {
  SandboxAccess* access = nullptr;  // where it was opened
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

  // Throws not_found (unknown or another tenant's), forbidden (suspended tenant, exec only: who
  // looks at what runs, or takes part in it, asks for other verbs),
  // conflict (not running, or ended; a paused one is resumed first when its profile says
  // auto_resume and the caller may use sandboxes), unsupported (the backend does not declare the
  // verb), unavailable (it has not told yet).
  virtual Task<OpenSandbox> open(const http::Caller& caller, std::string_view id, Verb verb) = 0;

  // Why a call on a sandbox really failed: a connection that broke, or something that is not there
  // any more, because the sandbox ended or was paused is conflict, as open() would answer now. Any
  // other failure stays what it is.
  virtual Task<Error> judge(TenantId tenant, SandboxId id, Error failure) = 0;

  // The backend says that it does not know the sandbox any more, which was ended or failed: its row
  // says so then, and its meter ends.
  virtual Task<void> report_gone(SandboxId id, std::string detail) = 0;
};

// Whether open() or judge() said that the sandbox ended, and not that it is paused.
inline bool says_ended(const Error& error) {
  const auto state = error.details.find("state");
  return error.code == ErrorCode::conflict && state != error.details.end() &&
         (*state == "stopping" || *state == "stopped" || *state == "failed");
}

// What a call on an open sandbox gives. Throws why it really failed: see judge().
template <class T>
Task<T> judged(const OpenSandbox& box, Task<T> call) {
  auto outcome = co_await attempt(std::move(call));
  if (auto* failure = std::get_if<Error>(&outcome)) {
    auto judging = box.access->judge(box.tenant, box.id, std::move(*failure));
    const Error told = co_await std::move(judging);
    throw told;
  }
  co_return std::get<0>(std::move(outcome));
}

// What its process does next, up to its end. Throws as judged(), and Error(unavailable) when the
// output ends before the process.
inline Task<ProcessEvent> next_event(const OpenSandbox& box, ProcessStream& process) {
  auto waiting = [](ProcessStream& of) -> Task<ProcessEvent> {
    auto event = co_await of.next();
    if (!event) throw Error(ErrorCode::unavailable, "the output ended before the process did");
    co_return std::move(*event);
  };
  return judged(box, waiting(process));
}

}  // namespace sandgate
