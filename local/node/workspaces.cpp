#include <fcntl.h>

#include "local/namespaces/mount_calls.hpp"
#include "local/namespaces/step_error.hpp"
#include "local/node/supervisor.hpp"

namespace sandgate {

// Whoever writes below an allowed directory must not lead a sandbox out of it: below it no link is
// followed.
Fd Supervisor::open_workspace(const SandboxOrder& order) const {
  const std::string& path = order.workspace;
  if (path.empty()) return Fd();
  for (const std::string& allowed : settings_.workspaces) {
    if (path != allowed && !path.starts_with(allowed + "/")) continue;
    Fd root(open(allowed.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!root) break;
    if (path == allowed) return root;
    try {
      return open_below(root.get(), path.c_str() + allowed.size() + 1,
                        O_PATH | O_DIRECTORY | O_CLOEXEC, "open workspace");
    } catch (const StepError&) {
      throw Error(ErrorCode::not_found, "the workspace is no directory below an allowed one");
    }
  }
  throw Error(ErrorCode::forbidden, "this machine does not show that directory to sandboxes");
}

}  // namespace sandgate
