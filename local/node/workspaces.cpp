#include <fcntl.h>

#include "local/namespaces/mount_calls.hpp"
#include "local/namespaces/step_error.hpp"
#include "local/node/supervisor.hpp"

namespace sandgate {
namespace {

bool is_within(const std::string& path, const std::string& allowed) {
  return path == allowed || path.starts_with(allowed + "/");
}

}  // namespace

// Whoever writes below an allowed directory must not lead a sandbox out of it: below it no link is
// followed. One that lies below another is reached from there, as it may itself be replaced.
Fd Supervisor::open_workspace(const SandboxOrder& order) const {
  const std::string& path = order.workspace;
  if (path.empty()) return Fd();
  const std::string* outermost = nullptr;
  for (const std::string& allowed : settings_.workspaces)
    if (is_within(path, allowed) && (!outermost || allowed.size() < outermost->size()))
      outermost = &allowed;
  Fd root(outermost ? open(outermost->c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC) : -1);
  if (!root)
    throw Error(ErrorCode::forbidden, "this machine does not show that directory to sandboxes");
  if (path == *outermost) return root;
  try {
    return open_below(root.get(), path.c_str() + outermost->size() + 1,
                      O_PATH | O_DIRECTORY | O_CLOEXEC, "open workspace");
  } catch (const StepError&) {
    throw Error(ErrorCode::not_found, "the workspace is no directory below an allowed one");
  }
}

}  // namespace sandgate
