#pragma once
#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "local/image/build.hpp"
#include "local/local_provider.hpp"
#include "local/node/supervisor/journal.hpp"
#include "tests/local/frozen_disk.hpp"
#include "tests/local/host_state.hpp"
#include "tests/support/run.hpp"

namespace sandgate::test {

struct ExecResult {
  int exit_code = -1;
  std::string signal, out, err;
};

// Why tests of what needs Verb::snapshot are skipped.
inline constexpr const char* kNeedsDisks =
    "needs loop devices: sandboxes without disks of their own have no snapshots";

// A node in a child process, with a LocalProvider connected to it. The destructor ends both and all
// sandboxes. The image "debian-12" is built once and cached in SANDGATE_TEST_IMAGES
// (/var/cache/sandgate-test/images when unset).
class LocalNode {
 public:
  // Why this machine cannot run these tests; empty when it can.
  static std::string reason_to_skip();

  // Builds the image into the cache unless it is there.
  static void have_image(const BuildRequest& request);

  // Path of the launcher that omits the walls named in a sandbox's SANDGATE_WITHOUT.
  static std::string weak_agent();

  // `run_as`: an unprivileged user for the node; such a node has an empty image store.
  explicit LocalNode(uid_t serve_uid = 0, size_t warm_sandboxes = 0, std::string workspace = "",
                     std::string agent = "", uid_t run_as = 0);
  ~LocalNode();

  LocalProvider& provider() { return *provider_; }
  std::string data_dir() const { return directory_.path() + "/data"; }
  std::string run_dir() const { return directory_.path() + "/run"; }
  const std::string& name() const { return name_; }
  std::string agent_binary() const;
  pid_t pid() const { return pid_; }

  void start();  // waits until the node answers
  void kill();  // SIGKILL
  void stop();  // SIGTERM

  // Create a sandbox and return its id.
  std::string create();
  std::string create(CreateSpec spec);
  CreateSpec spec() const;  // small, of image debian-12, with a fresh id
  ExecResult exec(const std::string& id, Command command);
  ExecResult shell(const std::string& id, const std::string& line, const std::string& user = "");
  ExecResult python(const std::string& id, const std::string& program,
                    const std::string& user = "");
  void write(const std::string& id, const std::string& path, const std::string& bytes,
             uint32_t mode = 0644);
  JournalRecord record(const std::string& id) const;  // from the journal
  // Restarts the node with its data on a new file system of `mib` MiB. It must have no sandboxes.
  const SmallDisk& move_to_small_disk(int mib);
  // Whether a host directory that the node has open without close-on-exec is open in the sandbox's
  // agent, too.
  bool leaks_into(const std::string& id) const;
  HostState host_state() const;  // traces of its sandboxes on the host
  // Freezes the sandbox's disk with a process that waits for it, so that the sandbox cannot end
  // while the result exists.
  FrozenDisk hold_at_disk(const JournalRecord& record);

 private:
  void wait_until_up();

  TempDirectory directory_;
  std::unique_ptr<SmallDisk> disk_;  // over data_dir()
  std::string name_;
  uid_t serve_uid_;
  size_t warm_sandboxes_;
  std::string workspace_;  // the only allowed workspace; empty: none
  std::string agent_;
  uid_t run_as_;
  uint32_t id_base_;
  pid_t pid_ = -1;
  std::unique_ptr<LocalProvider> provider_;
};

// Whether a process is being killed but still exists: SIGKILL is pending, or it is exiting.
bool is_dying(int64_t pid);

// Compiles a C program statically on this machine and returns the bytes of the executable.
std::string compile_c(const std::string& source);

}  // namespace sandgate::test
