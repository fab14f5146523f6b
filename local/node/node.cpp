#include "local/node/node.hpp"
#include "local/node/machine/core_dump_sockets.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "gateway/core/async.hpp"
#include "gateway/core/log.hpp"
#include "local/namespaces/step_error.hpp"
#include "local/namespaces/user_ns.hpp"
#include "local/node/machine/kernel_limits.hpp"
#include "local/node/machine/machine_settings.hpp"
#include "local/node/machine/machine_share.hpp"
#include "local/node/machine/module_requests.hpp"
#include "local/node/machine/probe.hpp"
#include "local/node/machine/volatile_directory.hpp"
#include "local/node/server/background_runner.hpp"
#include "local/node/server/listener.hpp"
#include "local/node/server/server.hpp"
#include "local/node/supervisor/supervisor.hpp"

namespace sandgate {
namespace {

// Number of sandboxes ended concurrently. Each end waits for writeback of the sandbox's disk.
constexpr size_t kEndings = 8;
constexpr size_t kWorkers = 4;  // threads for blocking kernel work

void make_directories(const NodeSettings& settings) {
  std::filesystem::create_directories(settings.data_dir);
  std::filesystem::create_directories(settings.run_dir);
  std::filesystem::create_directories(disks_dir(settings));
  chmod(settings.run_dir.c_str(), 0711);
  chmod(disks_dir(settings).c_str(), 0700);
}

// Two nodes with one directory would end each other's sandboxes.
Fd lock_run_dir(const NodeSettings& settings) {
  std::string path = settings.run_dir + "/lock";
  Fd lock = check_fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600), "open lock file");
  check(flock(lock.get(), LOCK_EX | LOCK_NB), "another node uses this run directory");
  return lock;
}

// Removes the journal's directory at the end, also when the start fails.
class JournalDirectory {
 public:
  explicit JournalDirectory(std::string path) : path_(std::move(path)) {
    make_volatile_directory(path_);
  }
  ~JournalDirectory() { remove_volatile_directory(path_); }
  JournalDirectory(const JournalDirectory&) = delete;

 private:
  const std::string path_;
};

// An unprivileged node has a single id and cannot reach other nodes' control groups.
MachineShare share_of_machine(const NodeSettings& settings) {
  if (geteuid() != 0) return {settings.name, settings.id_base, {}};
  return claim_share(settings);
}

// The last user id of all sandboxes.
uint32_t last_id_of(const NodeSettings& settings) {
  const uint64_t end = uint64_t{settings.id_base} + uint64_t{settings.id_ranges} * kIdRange;
  return static_cast<uint32_t>(std::min<uint64_t>(end - 1, UINT32_MAX));
}

Fd listen_for_serve(const NodeSettings& settings) {
  std::filesystem::path path = socket_path(settings);
  return listen_on(path.parent_path(), path.filename(), settings.serve_uid);
}

// Creates the supervisor, which also starts a trial sandbox. An Error here would recur at every
// start, hence the advice.
std::unique_ptr<Supervisor> make_supervisor(const NodeSettings& settings,
                                            asio::thread_pool& endings) {
  try {
    return std::make_unique<Supervisor>(settings, background_runner(endings));
  } catch (const Error& failure) {
    throw Error(failure.code, std::string("this machine cannot run sandboxes: ") + failure.what() +
                                  ": see 'sandgate doctor', or set local.enabled to false");
  }
}

void serve_until_told(const NodeSettings& settings) {
  asio::io_context loop(1);
  // Before the supervisor starts, so that a signal during the start ends the node in order.
  asio::signal_set signals(loop, SIGTERM, SIGINT);
  signals.async_wait([&](boost::system::error_code, int) { loop.stop(); });
  asio::thread_pool pool(kWorkers), endings(kEndings);
  const auto owned = make_supervisor(settings, endings);
  Supervisor& supervisor = *owned;
  NodeServer server(settings, supervisor, pool, endings);
  Fd listener = listen_for_serve(settings);
  spawn_detached(loop.get_executor(),
                 [&]() -> Task<void> { co_await server.serve(listener.release()); });
  log::info("node ready", {{"socket", socket_path(settings)},
                           {"cgroups", supervisor.capabilities().cgroups.detail}});
  loop.run();
  supervisor.stop_copies();  // nobody waits for them any more, and they may take minutes
  pool.join();
  endings.join();
}

}  // namespace

int run_node(NodeSettings settings) {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGHUP, SIG_IGN);  // only serve reloads its settings
  signal(SIGCHLD, SIG_DFL);
  umask(022);
  // Without privileges, serve must run as the same account.
  if (geteuid() != 0) settings.serve_uid = geteuid();
  require_machine(settings);
  try {
    make_directories(settings);
    Fd lock = lock_run_dir(settings);
    const MachineShare share = share_of_machine(settings);
    settings.name = share.name;
    settings.id_base = share.id_base;
    raise_kernel_limits();
    change_machine_settings();
    const Fd modules = try_refuse_module_requests(settings.id_base, last_id_of(settings));
    const Fd core_dumps = try_refuse_core_dump_sockets(settings.id_base, last_id_of(settings));
    const JournalDirectory journal(sandboxes_dir(settings));
    serve_until_told(settings);
    return 0;
  } catch (const Error&) {
    throw;
  } catch (const StepError& failure) {
    log::error("node failed", {{"step", failure.what()}, {"errno", failure.number}});
  } catch (const std::exception& failure) {
    log::error("node failed", {{"reason", failure.what()}});
  }
  return 1;
}

}  // namespace sandgate
