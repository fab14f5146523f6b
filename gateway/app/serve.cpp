#include "gateway/app/serve.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "gateway/app/master_key.hpp"
#include "gateway/app/start_checks.hpp"
#include "gateway/config/reload.hpp"
#include "gateway/core/fd.hpp"
#include "gateway/core/file_lock.hpp"
#include "gateway/core/files.hpp"
#include "gateway/core/log.hpp"
#include "gateway/core/random.hpp"
#include "gateway/supervisor/embedded_postgres.hpp"
#include "gateway/supervisor/process_supervisor.hpp"

namespace sandgate {
namespace {

constexpr const char* kOrdinaryAccount =
    "not started by root: local sandboxes have one account, and no limits but those of a delegated "
    "control group, without which no profile is placed here";

SystemAccount service_account(const Config& config) {
  if (geteuid() != 0) return current_account();
  const auto account = find_account(config.run_as);
  if (account && account->uid != 0) return *account;
  if (account)
    throw Error::invalid("/run_as", "'" + config.run_as +
                                        "' is root, which the gateway never runs as: name another "
                                        "account, or leave it out for 'sandgate'");
  throw Error(
      ErrorCode::invalid,
      "the gateway never runs as root and account '" + config.run_as +
          "' is missing: run 'useradd --system --no-create-home --shell /usr/sbin/nologin " +
          config.run_as + "' or set run_as");
}

// Created once. Without it, the credentials stored in the database cannot be decrypted.
void ensure_master_key(const Config& config, const SystemAccount& owner) {
  const std::string path = config.master_key_file();
  if (!config.master_key.empty() || std::filesystem::exists(path)) return;
  check_key_is_wanted(config);
  const std::string fresh = path + ".new", text = random_hex(32) + "\n";
  // May be left over from a crash, or be a link placed by another account.
  unlink(fresh.c_str());
  Fd file(open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400));
  const bool written =
      file && write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      (geteuid() != 0 || fchown(file.get(), owner.uid, owner.gid) == 0) && fsync(file.get()) == 0 &&
      close(file.release()) == 0 && rename(fresh.c_str(), path.c_str()) == 0 &&
      sync_directory(std::filesystem::path(path).parent_path());
  if (!written) throw Error(ErrorCode::unavailable, "cannot write " + path);
}

ChildSpec own_program(const std::string& command, const Config& config,
                      const SystemAccount& account) {
  ChildSpec spec;
  spec.name = command;
  spec.argv = {std::filesystem::read_symlink("/proc/self/exe"), command};
  spec.environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8"};
  spec.account = account;
  spec.settings = to_json(config).dump();
  return spec;
}

// Removes the secrets the node does not need, so that they cannot leak from it.
Config for_node(Config config) {
  config.admin_key = {};
  config.master_key = {};
  config.database.url.clear();
  return config;
}

void prepare_directories(const Config& config, const SystemAccount& account) {
  const SystemAccount self = current_account();
  ensure_directory(config.gateway_directory(), account, 0700);
  if (config.local.enabled) {
    ensure_directory(config.local_run(), self, 0711);
    ensure_directory(config.local_data(), self, 0700);
  }
}

// A shell's usual limit of 1,024 is below the promised connections and sandboxes.
void open_as_many_files_as_allowed() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

std::chrono::seconds worker_patience(const Config& config) {
  return std::chrono::seconds(config.limits.stop_grace_seconds + 5);
}

std::vector<std::string> reasons_of(const Error& error) {
  std::vector<std::string> reasons{error.what()};
  for (size_t i = 1; i < error.fields.size(); ++i)
    reasons.push_back(error.fields[i].path + ": " + error.fields[i].message);
  return reasons;
}

// Applies the settings that can change at run time to `running`. Empty if none changed.
std::optional<ProcessSupervisor::Renewal> renew(Config& running,
                                                const std::function<Config()>& read_again) {
  try {
    ReloadedConfig fresh = reloaded(running, read_again());
    if (!fresh.waiting.empty())
      log::warn("settings count from the next start on", {{"settings", fresh.waiting}});
    if (fresh.changed.empty()) return std::nullopt;
    log::info("settings changed", {{"settings", fresh.changed}});
    running = std::move(fresh.config);
  } catch (const Error& error) {
    log::error("settings kept as they were", {{"reasons", reasons_of(error)}});
    return std::nullopt;
  } catch (const std::exception& failure) {
    log::error("settings kept as they were", {{"reason", failure.what()}});
    return std::nullopt;
  }
  configure_log(running);
  return ProcessSupervisor::Renewal{to_json(running).dump(), worker_patience(running)};
}

// Prevents two servers with one home, which would stop each other's database. Leftover children of
// an earlier server do not have the lock, and so do not block the next.
FileLock lock_home(const std::string& home) {
  auto lock = FileLock::take(home + "/serve.lock");
  if (!lock)
    throw Error(ErrorCode::conflict,
                "another 'sandgate serve' uses " + home + ": stop it, or set another home");
  return std::move(*lock);
}

int supervise(const Config& config, const std::function<Config()>& read_again) {
  signal(SIGPIPE, SIG_IGN);  // whoever reads the log may end before this process
  const SystemAccount account = service_account(config);
  ensure_directory(config.home, current_account(), 0711, Link::follow);
  const FileLock alone = lock_home(config.home);
  check_start(config, account);
  open_as_many_files_as_allowed();
  prepare_directories(config, account);
  ensure_master_key(config, account);
  ProcessSupervisor supervisor;
  if (config.database.url.empty())
    supervisor.add(prepare_embedded_postgres(config, account), std::chrono::seconds(20));
  if (config.local.enabled && geteuid() != 0) log::warn(kOrdinaryAccount);
  if (config.local.enabled)
    supervisor.add(own_program("node", for_node(config), current_account()),
                   std::chrono::seconds(10));
  ChildSpec worker = own_program("worker", config, account);
  worker.reloads = true;
  supervisor.add(std::move(worker), worker_patience(config));
  supervisor.on_reload(
      [running = config, &read_again]() mutable { return renew(running, read_again); });
  return supervisor.run();
}

}  // namespace

int serve(const Config& config, const std::function<Config()>& read_again) {
  try {
    return supervise(config, read_again);
  } catch (const Error& error) {
    // As text, the command line's own last line has it.
    if (config.log.format != "json") throw;
    log::error("cannot run", {{"reasons", reasons_of(error)}});
    return 1;
  }
}

}  // namespace sandgate
