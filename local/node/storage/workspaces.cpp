#include "local/node/storage/workspaces.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include "gateway/core/log.hpp"
#include "local/namespaces/mount_calls.hpp"
#include "local/namespaces/step_error.hpp"
#include "local/namespaces/user_ns.hpp"

namespace sandgate {
namespace {

bool is_within(const std::string& path, const std::string& allowed) {
  return path == allowed || path.starts_with(allowed + "/");
}

// Follows no symlinks below an allowed directory, since they could lead out of it. An allowed
// directory inside another is opened from the outer one, because its path may be replaced, too.
Fd find_workspace(const std::string& path, const std::vector<std::string>& workspaces) {
  const std::string* outermost = nullptr;
  for (const std::string& allowed : workspaces)
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
    throw Error(ErrorCode::not_found, "the workspace is not a directory below an allowed one");
  }
}

}  // namespace

// Logs another owner than the image's account, because the kernel refuses writes to files of
// unmapped owners whatever their mode.
Fd open_workspace(const SandboxRequest& request, const ImageConfig& config,
                  const std::vector<std::string>& allowed) {
  if (request.workspace.empty()) return Fd();
  Fd workspace = find_workspace(request.workspace, allowed);
  const uint32_t group = host_group(config.uid, config.gid);
  struct stat status {};
  if (request.workspace_writable && fstat(workspace.get(), &status) == 0 &&
      (status.st_uid != config.uid || status.st_gid != group))
    log::warn("nobody inside can write at the top of the workspace: its owner is not the image's",
              {{"sandbox", request.id},
               {"workspace", request.workspace},
               {"owner", std::to_string(status.st_uid) + ":" + std::to_string(status.st_gid)},
               {"wanted", std::to_string(config.uid) + ":" + std::to_string(group)}});
  return workspace;
}

}  // namespace sandgate
